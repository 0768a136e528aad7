// SPDX-License-Identifier: Apache-2.0
// Comparison as a page of its own: every metric the runs have, everything that differs.
import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { run_query, type Run } from '../../api/runs'
import { useBase, usePage, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useParams_of_url } from '../../lib/url'
import { Crumbs, Head } from '../../ui/parts'
import { Empty, Failure, Skeleton } from '../../ui/states'
import { Compare } from './compare_dock'
import './runs.css'

const drawn_most = 12
const loaded_most = 100

export default function ComparePage() {
  const { t } = useText()
  const project = useProject()
  const to = useBase()
  const [params] = useParams_of_url()
  const base_id = params.get('base') ?? undefined
  const chosen = (params.get('sel') ?? '').split(',').filter(Boolean)
  const ids = [...new Set([...(base_id ? [base_id] : []), ...(params.get('ids') ?? '').split(',').filter(Boolean)])]
  const queries = useQueries({ queries: ids.slice(0, loaded_most).map((id) => run_query(project, id)) })
  const stamp = queries.map((query) => query.dataUpdatedAt).join()
  const runs = useMemo((): Run[] => queries.flatMap((query) => query.data ?? []), [stamp])
  const base = runs.find((run) => run.id === base_id)
  const drawn = useMemo(() => runs.filter((run) => !chosen.length || chosen.includes(run.id) || run.id === base_id).slice(0, drawn_most), [runs, chosen.join(), base_id])
  const failed = queries.find((query) => query.isError)
  usePage({ title: t('compare'), command: { cli: `takt runs diff ${ids[0] ?? ''} ${ids[1] ?? ''}`, route: `/api/v1/runs/${ids[0] ?? ''}/diff/${ids[1] ?? ''}` } })
  return (
    <div className="page page-runs">
      <Crumbs items={[[t('nav.runs'), `${to}/runs`], [t('compare')]]} />
      <Head title={t('compare.n', { n: runs.length })} />
      {failed && <section className="panel"><Failure what={t('runs.error')} error={failed.error} /></section>}
      {!ids.length ? <section className="panel"><Empty title={t('compare.none')} /></section> : drawn.length ? <Compare runs={drawn} base={base} wanted={ids.length} many={runs} whole /> : !failed && <Skeleton rows={8} />}
    </div>
  )
}
