// SPDX-License-Identifier: Apache-2.0
// The filter field: MLflow's grammar, names completed from the keys that runs have, the error under it.
import { useEffect, useId, useRef, useState } from 'react'
import type { ApiError } from '../../api/client'
import type { RunColumn } from '../../api/runs'
import { useText } from '../../i18n'
import { Icon } from '../../ui/icon'

const typing_pause_ms = 350

/** The word under the caret, where it begins, and the names that could complete it. */
export function complete(text: string, caret: number, columns: { name: string }[]): { from: number; names: string[] } {
  const before = text.slice(0, caret)
  if ((before.split("'").length - 1) % 2 === 1) return { from: caret, names: [] }
  const word = /[\w./`-]*$/.exec(before)?.[0] ?? ''
  if (word.length < 1) return { from: caret, names: [] }
  const wanted = word.toLowerCase()
  const names = [...columns.map((column) => column.name), 'attributes.status', 'attributes.run_name', 'attributes.start_time', 'attributes.duration']
    .filter((name) => name.toLowerCase().includes(wanted) && name.toLowerCase() !== wanted)
    .sort((a, b) => Number(b.toLowerCase().startsWith(wanted)) - Number(a.toLowerCase().startsWith(wanted)))
  return { from: caret - word.length, names: names.slice(0, 8) }
}

export function FilterField({ value, columns, error, count, onChange }: {
  value: string
  columns: RunColumn[]
  error: ApiError | undefined
  count: string
  onChange: (value: string) => void
}) {
  const { t } = useText()
  const id = useId()
  const [text, set_text] = useState(value)
  const [caret, set_caret] = useState(0)
  const [open, set_open] = useState(false)
  const [at, set_at] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => set_text(value), [value])
  const found = open ? complete(text, caret, columns) : { from: 0, names: [] }
  const commit = (next: string) => {
    clearTimeout(timer.current)
    onChange(next)
  }
  const change = (next: string, position: number) => {
    set_text(next)
    set_caret(position)
    set_at(0)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(next), typing_pause_ms)
  }
  const take = (name: string) => {
    const quoted = /[^\w./]/.test(name) ? name.replace(/^(\w+)\.(.*)$/, '$1.`$2`') : name
    const next = `${text.slice(0, found.from)}${quoted} ${text.slice(caret)}`
    set_open(false)
    change(next, found.from + quoted.length + 1)
    input.current?.focus()
  }
  return (
    <div className="qbox">
      <div className={`q ${error ? 'bad' : ''}`}>
        <Icon name="filter" />
        <input
          ref={input}
          data-filter
          role="combobox"
          aria-expanded={found.names.length > 0}
          aria-controls={`${id}-list`}
          aria-label={t('runs.filter')}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}-error` : undefined}
          placeholder="metrics.accuracy >= 0.96 AND params.hidden = '64'"
          spellCheck={false}
          autoComplete="off"
          lang="en"
          value={text}
          onChange={(event) => {
            set_open(true)
            change(event.target.value, event.target.selectionStart ?? event.target.value.length)
          }}
          onBlur={() => setTimeout(() => set_open(false), 150)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') set_open(false)
            if (found.names.length && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
              event.preventDefault()
              set_at((at + (event.key === 'ArrowDown' ? 1 : -1) + found.names.length) % found.names.length)
            }
            if (found.names.length && (event.key === 'Tab' || event.key === 'Enter')) {
              event.preventDefault()
              take(found.names[at]!)
            } else if (event.key === 'Enter') commit(text)
          }}
        />
        <span className="cnt">{count}</span>
      </div>
      {found.names.length > 0 && (
        <ul className="menu-list sug" role="listbox" id={`${id}-list`} aria-label={t('runs.columns')}>
          {found.names.map((name, index) => (
            <li key={name} role="option" aria-selected={index === at} className={`mono ${index === at ? 'on' : ''}`} onPointerDown={() => take(name)}>{name}</li>
          ))}
        </ul>
      )}
      {error && <p className="t-red q-error" id={`${id}-error`} role="alert">{error.message}{error.hint ? ` ${error.hint}` : ''}</p>}
    </div>
  )
}
