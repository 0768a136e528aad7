// SPDX-License-Identifier: Apache-2.0
// Saved views: a name for a query of the runs page, kept in this browser, reached by ?view=@NAME.
import { useEffect, useState } from 'react'
import { useText } from '../../i18n'
import { useParams_of_url, type Change } from '../../lib/url'
import { Button } from '../../ui/parts'
import { Icon } from '../../ui/icon'
import { Dialog } from '../../ui/dialog'

type Views = Record<string, Record<string, string>>

const kept = ['exp', 'q', 'cols', 'sort', 'base', 'group', 'diff', 'tab', 'x', 'smooth', 'log', 'charts'] as const

export function read_views(project: string): Views {
  try {
    return JSON.parse(localStorage.getItem(`takt-views/${project}`) ?? '{}') as Views
  } catch {
    return {}
  }
}

function write_views(project: string, views: Views): void {
  try {
    localStorage.setItem(`takt-views/${project}`, JSON.stringify(views))
  } catch {
    // Without storage a view lasts as long as its address.
  }
}

/** What the URL must become to show a view: what it does not name is cleared. */
export function change_to(view: Record<string, string>, name: string): Change {
  return { ...Object.fromEntries(kept.map((key) => [key, view[key] ?? null])), view: `@${name}` }
}

export function SavedViews({ project, builtin }: { project: string; builtin: [string, Change][] }) {
  const { t } = useText()
  const [params, set_params] = useParams_of_url()
  const [views, set_views] = useState(() => read_views(project))
  const [saving, set_saving] = useState(false)
  const [name, set_name] = useState('')
  const current = params.get('view')
  const filter = params.get('q') ?? ''
  useEffect(() => {
    // An address that only names a view becomes that view.
    const asked = current?.startsWith('@') ? views[current.slice(1)] : undefined
    if (asked && !kept.some((key) => params.has(key))) set_params(change_to(asked, current!.slice(1)))
  }, [current])
  const save = () => {
    const view = Object.fromEntries(kept.flatMap((key) => (params.has(key) ? [[key, params.get(key)!]] : [])))
    const next = { ...views, [name.trim()]: view }
    set_views(next)
    write_views(project, next)
    set_params({ view: `@${name.trim()}` }, true)
    set_saving(false)
    set_name('')
  }
  const remove = (which: string) => {
    const { [which]: gone, ...rest } = views
    void gone
    set_views(rest)
    write_views(project, rest)
    set_params({ view: null })
  }
  return (
    <div className="views">
      {builtin.map(([word, change]) => (
        <button key={word} type="button" aria-current={!current && (change.q ?? '') === filter ? 'true' : undefined} onClick={() => set_params({ ...change, view: null }, true)}>{word}</button>
      ))}
      {Object.entries(views).map(([saved, view]) => (
        <span key={saved} className="saved">
          <button type="button" aria-current={current === `@${saved}` ? 'true' : undefined} onClick={() => set_params(change_to(view, saved), true)}>{saved}</button>
          {current === `@${saved}` && <button type="button" className="icb" title={t('runs.view.remove', { name: saved })} aria-label={t('runs.view.remove', { name: saved })} onClick={() => remove(saved)}><Icon name="x" size={12} /></button>}
        </span>
      ))}
      <button type="button" onClick={() => set_saving(true)}>{t('runs.view.save')}</button>
      {saving && (
        <Dialog title={t('runs.view.save')} onClose={() => set_saving(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              save()
            }}
          >
            <input className="inp wide-inp" autoFocus required pattern="[^@,]+" value={name} placeholder={t('name')} aria-label={t('name')} onChange={(event) => set_name(event.target.value)} />
            <div className="row dlg-row">
              <span className="grow" />
              <Button onClick={() => set_saving(false)}>{t('cancel')}</Button>
              <Button type="submit" kind="primary" disabled={!name.trim()}>{t('runs.view.keep')}</Button>
            </div>
          </form>
        </Dialog>
      )}
    </div>
  )
}
