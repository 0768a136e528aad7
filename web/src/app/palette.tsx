// SPDX-License-Identifier: Apache-2.0
// Ctrl K: things first, then what can be done on this page, then places. Fuzzy on Latin, substring on Chinese.
import { useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useThings, type Thing } from '../api/things'
import { useText, type PlainKey } from '../i18n'
import { find_in, mark_parts } from '../lib/fuzzy'
import { Icon, type IconName } from '../ui/icon'
import { useBase, type Page } from './context'

interface Entry {
  group: PlainKey
  icon: IconName
  name: string
  side: string
  mono?: boolean
  act: (new_tab: boolean) => void
  marks: number[]
}

const places: [string, PlainKey, IconName][] = [
  ['', 'nav.line', 'line'], ['data', 'nav.data', 'data'], ['jobs', 'nav.jobs', 'jobs'], ['runs', 'nav.runs', 'runs'],
  ['models', 'nav.models', 'models'], ['services', 'nav.services', 'services'], ['pipelines', 'nav.pipelines', 'pipelines'],
  ['events', 'nav.events', 'events'],
]

export function Palette({ page, onClose }: { page: Page; onClose: () => void }) {
  const { t } = useText()
  const base = useBase()
  const [, navigate] = useLocation()
  const things = useThings()
  const [text, set_text] = useState('')
  const [chosen, set_chosen] = useState(0)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    if (dialog.current && !dialog.current.open) dialog.current.showModal()
    return () => {
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])

  const entries = useMemo(() => {
    const open = (to: string) => (new_tab: boolean) => (new_tab ? void window.open(to, '_blank', 'noopener') : navigate(to))
    const found = things
      .flatMap((thing: Thing) => {
        const match = find_in(thing.name, text)
        return match ? [{ thing, match }] : []
      })
      .sort((a, b) => b.match.score - a.match.score || b.thing.at - a.thing.at)
      .slice(0, text ? 8 : 5)
    const all: Entry[] = found.map(({ thing, match }) => ({
      group: text ? 'palette.go' : 'palette.recent', icon: thing.icon, name: thing.name, side: thing.fact, act: open(thing.to), marks: match.marks,
    }))
    for (const action of page.actions ?? []) {
      const match = find_in(action.name, text)
      if (match) all.push({ group: 'palette.do', icon: 'arrow', name: action.name, side: action.command ?? '', mono: true, act: action.run, marks: match.marks })
    }
    for (const [path, word, icon] of places) {
      const match = find_in(t(word), text)
      if (match) all.push({ group: 'palette.places', icon, name: t(word), side: '', act: open(`${base}/${path}`), marks: match.marks })
    }
    if (text.length > 2) {
      all.push({ group: 'palette.places', icon: 'search', name: t('palette.resolve', { text }), side: `takt why ${text}`, mono: true, act: open(`/go/${encodeURIComponent(text)}`), marks: [] })
    }
    return all
  }, [things, text, page, base, t, navigate])

  const at = Math.min(chosen, entries.length - 1)
  const act = (entry: Entry | undefined, new_tab: boolean) => {
    if (!entry) return
    onClose()
    entry.act(new_tab)
  }
  return (
    <dialog
      ref={dialog}
      className="pal"
      aria-label={t('find')}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <label className="in">
        <Icon name="search" size={18} />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={at >= 0 ? `palette-${at}` : undefined}
          aria-label={t('find')}
          placeholder={t('palette.hint')}
          value={text}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            set_text(event.target.value)
            set_chosen(0)
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
              event.preventDefault()
              const next = (at + (event.key === 'ArrowDown' ? 1 : -1) + entries.length) % Math.max(1, entries.length)
              set_chosen(next)
              document.getElementById(`palette-${next}`)?.scrollIntoView({ block: 'nearest' })
            }
            if (event.key === 'Enter') {
              event.preventDefault()
              act(entries[at], event.ctrlKey || event.metaKey)
            }
          }}
        />
      </label>
      <div className="pal-list" id="palette-list" role="listbox" aria-label={t('find')}>
        {entries.length === 0 && <p className="f pal-none">{t('palette.none')}</p>}
        {entries.map((entry, index) => (
          <div key={index} role="presentation">
            {(index === 0 || entries[index - 1]?.group !== entry.group) && <h3 role="presentation">{t(entry.group)}</h3>}
            <div
              id={`palette-${index}`}
              role="option"
              aria-selected={index === at}
              className={`opt ${index === at ? 'on' : ''}`}
              onPointerMove={() => set_chosen(index)}
              onClick={(event) => act(entry, event.ctrlKey || event.metaKey)}
            >
              <Icon name={entry.icon} />
              <span>
                {mark_parts(entry.name, entry.marks).map(([part, marked], k) => (marked ? <mark key={k}>{part}</mark> : part))}
              </span>
              <span className={`f ${entry.mono ? 'mono' : ''}`}>{entry.side}</span>
            </div>
          </div>
        ))}
      </div>
      <div className="ft">
        <span><kbd>↑</kbd> <kbd>↓</kbd> {t('palette.move')}</span>
        <span><kbd>Enter</kbd> {t('palette.open')}</span>
        <span><kbd>Ctrl</kbd> <kbd>Enter</kbd> {t('palette.tab')}</span>
      </div>
    </dialog>
  )
}
