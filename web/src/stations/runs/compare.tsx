// SPDX-License-Identifier: Apache-2.0
// Comparison as a page of its own: all parameters, six curves.
import { useQueries } from '@tanstack/react-query'
import { run_query } from '../../api/runs'
import { useBase, usePage, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useParams_of_url } from '../../lib/url'
import { Crumbs, Head } from '../../ui/parts'
import { Empty, Failure, Skeleton } from '../../ui/states'
import { Compare } from './compare_dock'
import './runs.css'

const compared_most = 12

export default function ComparePage() {
  const { t } = useText()
  const project = useProject()
  const to = useBase()
  const [params] = useParams_of_url()
  const ids = (params.get('ids') ?? '').split(',').filter(Boolean)
  const base_id = params.get('base')
  const queries = useQueries({ queries: ids.slice(0, compared_most).map((id) => run_query(project, id)) })
  const runs = queries.flatMap((query) => query.data ?? [])
  const failed = queries.find((query) => query.isError)
  usePage({ title: t('compare'), command: { cli: `takt runs show ${ids[0] ?? ''}`, route: `/api/v1/runs/${ids[0] ?? ''}` } })
  return (
    <div className="page page-runs">
      <Crumbs items={[[t('nav.runs'), `${to}/runs`], [t('compare')]]} />
      <Head title={t('compare.n', { n: runs.length })} />
      {failed && <section className="panel"><Failure what={t('runs.error')} error={failed.error} /></section>}
      {!ids.length ? <section className="panel"><Empty title={t('compare.none')} /></section> : runs.length ? <Compare runs={runs} base={runs.find((run) => run.id === base_id)} wanted={ids.length} whole /> : !failed && <Skeleton rows={8} />}
    </div>
  )
}
