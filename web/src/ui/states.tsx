// SPDX-License-Identifier: Apache-2.0
// What a panel shows when it has nothing yet: waiting, failed, refused, empty, lost.
import { useEffect, useState, type ReactNode } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import { ApiError } from '../api/client'
import { useText } from '../i18n'
import { Glyph, Icon } from './icon'
import { Button, Copy, Head } from './parts'

/** Appears only after 300 ms, in the geometry of a table. */
export function Skeleton({ rows = 4 }: { rows?: number }) {
  const [late, set_late] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => set_late(true), 300)
    return () => clearTimeout(timer)
  }, [])
  const { t } = useText()
  return (
    <div className="skel" role="status" aria-label={t('loading')}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className={late ? '' : 'early'}>
          <i /><i /><i /><i /><i />
        </div>
      ))}
    </div>
  )
}

/** What an error's code means, for those who do not read the server's own words; nothing in English, which those are. */
function CodeMeaning({ code }: { code: string | undefined }) {
  const { t, has, language } = useText()
  const key = `code.${code ?? ''}`
  return language !== 'en' && has(key) ? <p>{(t as (key: string) => string)(key)}</p> : null
}

export function Failure({ what, error, retry }: { what: string; error: unknown; retry?: () => void }) {
  const { t } = useText()
  const api = error instanceof ApiError ? error : undefined
  const denied = api?.status === 403
  return (
    <div className="msg" role="alert">
      {denied ? <Icon name="lock" size={18} /> : <Glyph name="bad" size={18} />}
      <div>
        <h2>{what}</h2>
        <CodeMeaning code={api?.code} />
        <p lang="en">{error instanceof Error ? error.message : String(error)}</p>
        {api?.hint && <p lang="en">{api.hint}</p>}
        <div className="row msg-row">
          {retry && (
            <Button small onClick={retry}>
              {t('try_again')}
            </Button>
          )}
          <span className="mono f">
            {[api?.code, api?.request_id && t('error.request', { id: api.request_id })].filter(Boolean).join(' · ')}
          </span>
        </div>
      </div>
    </div>
  )
}

export function Empty({ title, text, command }: { title: string; text?: ReactNode; command?: string }) {
  return (
    <div className="emp">
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {command && (
        <div className="run1">
          <span className="f">$</span>
          <span className="grow run1-text">{command}</span>
          <Copy text={command} />
        </div>
      )}
    </div>
  )
}

/** Shows a query's last data at once, its failure in place, and a skeleton only when there is nothing. */
export function Loaded<T>({ query, what, rows, title, children }: {
  query: UseQueryResult<T>
  what: string
  rows?: number
  /** Of a whole page: stands as its heading until the data brings its own. */
  title?: string
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  const body = query.isError ? <Failure what={what} error={query.error} retry={() => void query.refetch()} /> : <Skeleton rows={rows} />
  if (title === undefined) return body
  return (
    <>
      <Head title={title} />
      <section className="panel">{body}</section>
    </>
  )
}

export function Banner({ tone = 'amber', children, side }: { tone?: 'amber' | 'red' | 'violet'; children: ReactNode; side?: ReactNode }) {
  return (
    <div className={`ban ${tone}`} role="status">
      <Glyph name={tone === 'red' ? 'bad' : tone === 'violet' ? 'person' : 'warn'} size={18} />
      <span className="grow">{children}</span>
      {side}
    </div>
  )
}
