// SPDX-License-Identifier: Apache-2.0
// The log viewer: live by byte offset, virtual, with search, a margin map, permalinks and follow.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { log_url, read_log, type Job } from '../../api/jobs'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useParams_of_url } from '../../lib/url'
import { glyph_of, is_ended, useStateWord } from '../../ui/status'
import { Glyph, Icon } from '../../ui/icon'
import { Button, Segments } from '../../ui/parts'
import { Failure } from '../../ui/states'
import { is_error_line, LogModel, spans_of, type LogLine } from './log_model'

const part_bytes = 512 * 1024
/** A log longer than this is read from its last part; the rest is one button away. */
const tail_bytes = 2 * 1024 * 1024
const paint_ms = 250
const poll_ms = 700

interface LogState {
  lines: LogLine[]
  total: number
  skipped_bytes: number
  size: number
  final: boolean
  error?: unknown
}

function useLog(project: string, job: string, attempt: number, whole: boolean): LogState {
  const [state, set_state] = useState<LogState>({ lines: [], total: 0, skipped_bytes: 0, size: 0, final: false })
  useEffect(() => {
    const abort = new AbortController()
    let model = new LogModel()
    let skipped = 0
    let painted = 0
    let paint_timer: ReturnType<typeof setTimeout> | undefined
    const paint = (size: number, final: boolean, error?: unknown) => {
      clearTimeout(paint_timer)
      const wait = error !== undefined || final ? 0 : Math.max(0, painted + paint_ms - Date.now())
      paint_timer = setTimeout(() => {
        painted = Date.now()
        set_state({ lines: model.all(), total: model.total, skipped_bytes: skipped, size, final, error })
      }, wait)
    }
    const run = async () => {
      let failures = 0
      let first = true
      while (!abort.signal.aborted) {
        try {
          const from = first && !whole ? -tail_bytes : model.next_offset
          const part = await read_log(project, job, attempt, from, first && !whole ? tail_bytes : part_bytes, abort.signal)
          if (first && part.offset > 0) {
            skipped = part.offset
            model = new LogModel(part.offset)
          }
          first = false
          failures = 0
          model.feed(part.bytes)
          const complete = part.final && model.next_offset >= part.size
          paint(part.size, complete)
          if (complete) return
          if (model.next_offset < part.size) continue
          await sleep(document.hidden ? poll_ms * 5 : poll_ms, abort.signal)
        } catch (error) {
          if (abort.signal.aborted) return
          paint(model.next_offset, false, error)
          if (++failures > 20) return
          await sleep(Math.min(15_000, 1000 * 2 ** failures), abort.signal)
        }
      }
    }
    set_state({ lines: [], total: 0, skipped_bytes: 0, size: 0, final: false })
    void run()
    return () => {
      abort.abort()
      clearTimeout(paint_timer)
    }
  }, [project, job, attempt, whole])
  return state
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    }, { once: true })
  })
}

/** #L12 or #L12-20 */
export function parse_lines(hash: string): [number, number] | undefined {
  const match = /^#L(\d+)(?:-(\d+))?$/.exec(hash)
  if (!match) return undefined
  const from = Number(match[1])
  const to = Number(match[2] ?? match[1])
  return from <= to ? [from, to] : [to, from]
}

export function LogPanel({ job, attempt }: { job: Job; attempt: number }) {
  const { t } = useText()
  const project = useProject()
  const say = useStateWord()
  const [, set_params] = useParams_of_url()
  const [, navigate] = useLocation()
  const [whole, set_whole] = useState(false)
  const log = useLog(project, String(job.number), attempt, whole)
  const [query, set_query] = useState('')
  const [only, set_only] = useState<'all' | 'errors'>('all')
  const [marked, set_marked] = useState(() => parse_lines(location.hash))
  const scroller = useRef<HTMLDivElement>(null)
  const follow = useRef(!marked)
  const [following, set_following] = useState(!marked)
  const seen = useRef(0)

  const shown = useMemo(() => (only === 'all' ? log.lines : log.lines.filter((line) => is_error_line(line.text))), [log.lines, only])
  const hits = useMemo(() => {
    const wanted = query.toLowerCase()
    return wanted ? shown.flatMap((line, index) => (line.text.toLowerCase().includes(wanted) ? [index] : [])) : []
  }, [shown, query])
  const errors = useMemo(() => shown.flatMap((line, index) => (is_error_line(line.text) ? [index] : [])), [shown])
  const virtualizer = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => 19, overscan: 20 })

  const set_follow = useCallback((value: boolean) => {
    follow.current = value
    set_following(value)
  }, [])
  useEffect(() => {
    if (follow.current && shown.length) {
      virtualizer.scrollToIndex(shown.length - 1, { align: 'end' })
      seen.current = log.total
    }
  }, [shown.length, log.total, following])
  useEffect(() => {
    if (!marked || !shown.length || follow.current) return
    const index = shown.findIndex((line) => line.number >= marked[0])
    if (index >= 0) virtualizer.scrollToIndex(index, { align: 'center' })
  }, [shown.length > 0])

  const jump = (indexes: number[], step: number) => {
    if (!indexes.length) return
    set_follow(false)
    const middle = virtualizer.getVirtualItems()[Math.floor(virtualizer.getVirtualItems().length / 2)]?.index ?? 0
    const here = indexes.findIndex((index) => index >= middle)
    const next = indexes[((here < 0 ? 0 : here) + step + indexes.length) % indexes.length]
    if (next !== undefined) virtualizer.scrollToIndex(next, { align: 'center' })
  }
  const mark = (number: number, extend: boolean) => {
    const range: [number, number] = extend && marked ? [Math.min(marked[0], number), Math.max(marked[1], number)] : [number, number]
    set_marked(range)
    set_follow(false)
    navigate(`${location.pathname}${location.search}#L${range[0]}${range[1] > range[0] ? `-${range[1]}` : ''}`, { replace: true })
  }
  const items = virtualizer.getVirtualItems()
  const first = shown[virtualizer.range?.startIndex ?? 0]
  const last = shown[Math.min(shown.length - 1, virtualizer.range?.endIndex ?? 0)]
  const unseen = Math.max(0, log.total - seen.current)

  return (
    <section
      className="panel log"
      aria-label={t('log')}
      onKeyDown={(event) => {
        if ((event.target as HTMLElement).tagName === 'INPUT') return
        if (event.key === 'n') jump(hits, 1)
        else if (event.key === 'N') jump(hits, -1)
        else if (event.key === 'e') jump(errors, 1)
        else if (event.key === 'G') set_follow(true)
      }}
    >
      <div className="lt">
        <h2>{t('log')}</h2>
        {job.attempts.length > 1 && (
          <span className="seg" role="group" aria-label={t('log.attempts')}>
            {job.attempts.map((item) => (
              <button key={item.number} type="button" aria-pressed={item.number === attempt} title={say(item.state)} onClick={() => set_params({ attempt: String(item.number) })}>
                {item.number === 1 ? t('log.attempt', { n: item.number }) : item.number}
                {glyph_of(item.state) === 'bad' && <Glyph name="bad" size={12} label={say(item.state)} />}
              </button>
            ))}
          </span>
        )}
        <label className="fi">
          <Icon name="search" size={14} />
          <input
            data-filter
            value={query}
            placeholder={t('log.search', { n: log.lines.length })}
            aria-label={t('log.search', { n: log.lines.length })}
            onChange={(event) => set_query(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') jump(hits, event.shiftKey ? -1 : 1)
            }}
          />
        </label>
        {query && <span className="f num nw">{t('log.hits', { n: hits.length })}</span>}
        <Segments label={t('log.show')} value={only} onChange={set_only} options={[['all', t('all')], ['errors', t('log.errors')]]} />
        <span className="grow" />
        {shown.length > 0 && first && last && <span className="f num nw hm">{t('log.range', { from: first.number, to: last.number, of: log.total })}</span>}
        <Button small className={following ? 'on' : ''} onClick={() => set_follow(!following)}>
          {t('log.follow')}
        </Button>
        <a className="icb" href={log_url(project, String(job.number), attempt)} download={`job-${job.number}-${attempt}.log`} title={t('log.download')} aria-label={t('log.download')}>
          <Icon name="save" />
        </a>
      </div>
      {log.error !== undefined && <Failure what={t('log.unreadable')} error={log.error} />}
      <div className="lb">
        {log.skipped_bytes > 0 && (
          <p className="lb-note">
            {t('log.skipped')} <button type="button" onClick={() => set_whole(true)}>{t('log.whole')}</button>
          </p>
        )}
        {shown.length === 0 && <p className="lb-note">{is_ended(job.state) || log.final ? t('log.none') : t('log.empty')}</p>}
        <div
          className="lb-scroll"
          ref={scroller}
          tabIndex={0}
          role="log"
          aria-live="off"
          aria-label={t('log.lines')}
          onScroll={(event) => {
            const element = event.currentTarget
            const at_end = element.scrollHeight - element.scrollTop - element.clientHeight < 30
            if (!at_end && follow.current && element.scrollTop < (Number(element.dataset.top) || 0)) {
              seen.current = log.total
              set_follow(false)
            }
            element.dataset.top = String(element.scrollTop)
            if (at_end) seen.current = log.total
          }}
        >
          <pre lang="en" style={{ height: virtualizer.getTotalSize() }}>
            {items.map((item) => {
              const line = shown[item.index]!
              const is_marked = marked !== undefined && line.number >= marked[0] && line.number <= marked[1]
              const kind = is_marked ? 'mk' : is_error_line(line.text) ? 'e' : ''
              return (
                <div className={`l ${kind}`} key={line.number} style={{ transform: `translateY(${item.start}px)` }}>
                  <button type="button" className="ln" tabIndex={-1} aria-label={t('log.line', { n: line.number })} onClick={(event) => mark(line.number, event.shiftKey)}>
                    {line.number}
                  </button>
                  <LineText text={line.text} query={query} />
                </div>
              )
            })}
          </pre>
        </div>
        <MarginMap count={shown.length} errors={errors} hits={hits} marked={marked && shown.findIndex((line) => line.number >= marked[0])} onGo={(index) => { set_follow(false); virtualizer.scrollToIndex(index, { align: 'center' }) }} />
        {!following && !log.final && unseen > 0 && (
          <button type="button" className="lb-new" onClick={() => set_follow(true)}>
            {t('log.new', { n: unseen })}
          </button>
        )}
      </div>
    </section>
  )
}

function LineText({ text, query }: { text: string; query: string }) {
  const spans = spans_of(text)
  const wanted = query.toLowerCase()
  return (
    <s>
      {spans.map((span, index) => {
        const at = wanted ? span.text.toLowerCase().indexOf(wanted) : -1
        const body = at < 0 ? span.text : (
          <>
            {span.text.slice(0, at)}
            <mark>{span.text.slice(at, at + wanted.length)}</mark>
            {span.text.slice(at + wanted.length)}
          </>
        )
        return span.color || span.bold ? (
          <span key={index} style={{ color: span.color && `var(${span.color})`, fontWeight: span.bold ? 600 : undefined }}>
            {body}
          </span>
        ) : (
          <span key={index}>{body}</span>
        )
      })}
    </s>
  )
}

function MarginMap({ count, errors, hits, marked, onGo }: { count: number; errors: number[]; hits: number[]; marked: number | undefined; onGo: (index: number) => void }) {
  if (count === 0) return null
  const place = (index: number) => ({ top: `${(index / Math.max(1, count)) * 100}%` })
  const few = (indexes: number[]) => (indexes.length > 200 ? indexes.filter((_, k) => k % Math.ceil(indexes.length / 200) === 0) : indexes)
  return (
    <div className="mini" aria-hidden="true" onClick={(event) => {
      const box = event.currentTarget.getBoundingClientRect()
      onGo(Math.min(count - 1, Math.floor(((event.clientY - box.top) / box.height) * count)))
    }}>
      {few(errors).map((index) => <i key={`e${index}`} className="me" style={place(index)} />)}
      {few(hits).map((index) => <i key={`h${index}`} className="mh" style={place(index)} />)}
      {marked !== undefined && marked >= 0 && <i className="mm" style={place(marked)} />}
    </div>
  )
}
