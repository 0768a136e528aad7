// SPDX-License-Identifier: Apache-2.0
// Parameters and metrics of runs side by side, the baseline first: what differs, or everything.
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { metric_of, type Run } from '../../api/runs'
import { useBase } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { lower_is_better, type Look } from '../../lib/metrics'
import { common_metrics } from './compare_model'

const params_shown = 8
const rows_shown = 200

export function Differences({ runs, base, looks, whole }: { runs: Run[]; base: Run | undefined; looks: Map<string, Look>; whole: boolean }) {
  const { t } = useText()
  const [all, set_all] = useState(false)
  const [find, set_find] = useState('')
  const wanted = find.toLowerCase()
  const keys = useMemo(() => [...new Set(runs.flatMap((run) => Object.keys(run.params)))].sort(), [runs])
  const differing = useMemo(() => keys.filter((key) => new Set(runs.map((run) => run.params[key])).size > 1), [keys, runs])
  const found = (names: string[]) => (wanted ? names.filter((name) => name.toLowerCase().includes(wanted)) : names)
  const params = found(all ? keys : differing)
  const metrics = found(common_metrics(runs))
  const most_params = whole || all ? rows_shown : params_shown
  const most_metrics = whole || all ? rows_shown : 4
  const cut = params.length + metrics.length - Math.min(params.length, most_params) - Math.min(metrics.length, most_metrics)
  return (
    <div className="diffs">
      <div className="ct">
        <b>{t('compare.differences')}</b>
        <span className="f">{t('compare.of', { n: differing.length, all: keys.length })}</span>
        {whole && <input className="inp find-inp" value={find} placeholder={t('compare.find')} aria-label={t('compare.find')} onChange={(event) => set_find(event.target.value)} />}
        <button type="button" className="linkish push" onClick={() => set_all(!all)}>{all ? t('compare.only') : t('compare.all')}</button>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label={t('compare.differences')}>
        <table className="df" aria-label={t('compare.differences')}>
          <thead>
            <tr>
              <th scope="col"><span className="sr">{t('name')}</span></th>
              {runs.map((run) => <RunHead key={run.id} run={run} look={looks.get(run.id)} whole={whole} />)}
            </tr>
          </thead>
          <tbody>
            {params.slice(0, most_params).map((key, index, shown) => <ParamRow key={key} name={key} runs={runs} first={base ?? runs[0]} last={index === shown.length - 1} />)}
            {metrics.slice(0, most_metrics).map((key) => <MetricRow key={key} name={key} runs={runs} first={base ?? runs[0]} />)}
          </tbody>
        </table>
      </div>
      {cut > 0 && (whole || all) && <p className="f">{t('and_more', { n: cut })}</p>}
    </div>
  )
}

function RunHead({ run, look, whole }: { run: Run; look: Look | undefined; whole: boolean }) {
  const to = useBase()
  const name = run.name || run.id.slice(0, 8)
  return (
    <th scope="col" title={name}>
      <Link href={`${to}/runs/${run.id}`} className="ink"><i className={`key ${look?.dash ? 'd' : ''}`} style={look?.dash ? { borderColor: `var(${look.color})` } : { background: look && `var(${look.color})` }} /> {whole ? name : short(name)}</Link>
    </th>
  )
}

function ParamRow({ name, runs, first, last }: { name: string; runs: Run[]; first: Run | undefined; last: boolean }) {
  return (
    <tr className={last ? 'cut' : ''}>
      <td className="mono" title={name}>{name}</td>
      {runs.map((run) => <td key={run.id} className={run.id === first?.id ? '' : run.params[name] === first?.params[name] ? 'e' : 'n'} title={run.params[name]}>{run.params[name] ?? '–'}</td>)}
    </tr>
  )
}

/** The best is stressed; against the baseline the change stands beside. */
function MetricRow({ name, runs, first }: { name: string; runs: Run[]; first: Run | undefined }) {
  const format = useFormat()
  const values = runs.map((run) => metric_of(run, name))
  const known = values.filter((value): value is number => value !== null)
  const best = lower_is_better(name) ? Math.min(...known) : Math.max(...known)
  const against = first && metric_of(first, name)
  return (
    <tr>
      <td title={name}>{name}</td>
      {runs.map((run, index) => {
        const value = values[index] ?? null
        const change = value !== null && typeof against === 'number' && run.id !== first?.id ? value - against : undefined
        return <td key={run.id} className={value === best && known.length > 1 ? 'n' : ''} title={change === undefined ? undefined : `${change > 0 ? '+' : '−'}${format.metric(Math.abs(change))}`}>{format.metric(value)}</td>
      })}
    </tr>
  )
}

function short(name: string): string {
  const number = /-(\d{2,6})$/.exec(name)
  return number ? number[1]! : name.length > 12 ? `…${name.slice(-10)}` : name
}
