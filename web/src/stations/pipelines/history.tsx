// SPDX-License-Identifier: Apache-2.0
// Past runs by nodes, and the timeline of this run.
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { pipeline_run_query, pipeline_runs_query, run_has_ended, type PipelineRun } from '../../api/pipelines'
import { useBase, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useNow } from '../../lib/now'
import { Glyph } from '../../ui/icon'
import { glyph_of, useStateWord } from '../../ui/status'
import { node_span_ms } from './model'

const shown = 8

export function RunGrid({ run, chosen }: { run: PipelineRun; chosen: string | undefined }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const say = useStateWord()
  const project = useProject()
  const base = useBase()
  const list = useQuery(pipeline_runs_query(project, run.pipeline))
  const numbers = (list.data ?? []).map((item) => item.number).slice(0, shown).reverse()
  const runs = useQueries({
    queries: numbers.map((number) => {
      const ended = list.data?.find((item) => item.number === number)
      return { ...pipeline_run_query(project, run.pipeline, number), staleTime: ended && run_has_ended(ended) ? 10 * 60_000 : 30_000 }
    }),
  }).map((query) => query.data)
  const span_of = (item: PipelineRun | undefined) => (item ? (item.ended_at ? Date.parse(item.ended_at) : now) - Date.parse(item.started_at) : 0)
  const most = Math.max(1, ...runs.map(span_of))
  const names = (run.nodes ?? []).map((node) => node.name)
  const columns = { gridTemplateColumns: `84px repeat(${shown}, minmax(0, 1fr))` }
  const pad = Array.from({ length: shown - numbers.length }, (_, index) => index)
  return (
    <>
      <div className="gv" style={columns}>
        <span className="n">{t('pipeline.duration')}</span>
        {pad.map((index) => <span key={index} />)}
        {numbers.map((number, index) => {
          const item = runs[index]
          const glyph = glyph_of(item?.state)
          return (
            <span key={number} className={`bar ${number === run.number ? 'tr' : ''}`} title={`#${number}: ${format.duration(span_of(item))}`}>
              <i className={glyph === 'bad' ? 'f' : glyph === 'person' ? 'p' : ''} style={{ height: `${Math.max(4, (span_of(item) / most) * 100)}%` }} />
            </span>
          )
        })}
        {names.map((name) => (
          <div className="kvr" key={name}>
            <span className={`n ${name === chosen ? 'sel' : ''}`} title={name}>{name}</span>
            {pad.map((index) => <span key={index} />)}
            {numbers.map((number, index) => {
              const node = runs[index]?.nodes?.find((entry) => entry.name === name)
              const quiet = !node || ['pending', 'skipped'].includes(node.state)
              return (
                <Link key={number} className={`c ${number === run.number ? 'tr' : ''}`} href={`${base}/pipelines/${encodeURIComponent(run.pipeline)}/${number}?node=${encodeURIComponent(name)}`} aria-label={`#${number} ${name}: ${say(node?.state)}`}>
                  {quiet ? <span className="f" aria-hidden="true">·</span> : <Glyph name={glyph_of(node.state)} size={14} />}
                </Link>
              )
            })}
          </div>
        ))}
        <span />
        {pad.map((index) => <span key={index} />)}
        {numbers.map((number) => <span key={number} className={`no ${number === run.number ? 'tr' : ''}`}>{number}</span>)}
      </div>
      <div className="legend gl-legend">
        {(['done', 'cached', 'stopped', 'failed', 'waiting-approval'] as const).map((state) => (
          <span key={state}><Glyph name={glyph_of(state)} size={14} />{say(state)}</span>
        ))}
      </div>
    </>
  )
}

export function Timeline({ run }: { run: PipelineRun }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const nodes = run.nodes ?? []
  // A wait for a person would flatten all else: the axis ends with the work, and such bars end at its edge.
  const work_ends = nodes.filter((node) => node.state !== 'waiting-approval' && !node.approve).map((node) => (node.started_at ? Date.parse(node.started_at) + (node_span_ms(node, now) ?? 0) : 0))
  const from = Date.parse(run.started_at)
  const to = Math.max(from + 1000, ...work_ends)
  const reach = (to - from) * 1.04
  const share = (ms: number) => Math.max(0, Math.min(1, (ms - from) / reach))
  return (
    <>
      <h3 className="tl-head">{t('pipeline.timeline', { n: String(run.number), span: format.duration(to - from) })}</h3>
      <div className="gt" role="img" aria-label={t('pipeline.timeline', { n: String(run.number), span: format.duration(to - from) })}>
        {nodes.map((node) => {
          const asked = node.approve?.asked_at ? Date.parse(node.approve.asked_at) : undefined
          const started = node.started_at ? Date.parse(node.started_at) : asked
          const ended = node.ended_at ? Date.parse(node.ended_at) : now
          const glyph = glyph_of(node.state)
          const left = started === undefined ? 0 : Math.min(0.985, share(started))
          return (
            <div className="kvr" key={node.name}>
              <span className="ell">{node.name}</span>
              <div className="gl">
                {started !== undefined && node.state !== 'pending' && node.state !== 'skipped' && (
                  <i className={glyph === 'person' || node.approve ? 'v' : glyph === 'bad' ? 'r' : glyph === 'run' ? 'b' : glyph === 'reuse' ? 'c' : ''} style={{ left: `${left * 100}%`, width: `max(3px, ${(Math.max(share(ended), left + 0.012) - left) * 100}%)` }} />
                )}
              </div>
            </div>
          )
        })}
      </div>
    </>
  )
}
