// SPDX-License-Identifier: Apache-2.0
// Pipelines: the last runs as glyphs, what each does now, what triggers it.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { Link } from 'wouter'
import { pipelines_query, type Pipeline } from '../../api/pipelines'
import { useBase, usePage, useProject } from '../../app/context'
import { mark_seen } from '../../app/seen'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { Glyph } from '../../ui/icon'
import { glyph_of, StatusText, useStateWord } from '../../ui/status'
import { Head, Time } from '../../ui/parts'
import { Empty, Loaded } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'
import './pipelines.css'

const shown = 12

export default function PipelinesPage() {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const base = useBase()
  const say = useStateWord()
  const pipelines = useQuery(pipelines_query(project))
  useEffect(() => mark_seen(project, 'pipelines'), [project])
  usePage({ title: t('nav.pipelines'), command: { cli: 'takt pipeline ls', route: '/api/v1/pipelines' } })
  const columns = useMemo((): Column<Pipeline>[] => {
    const took = (pipeline: Pipeline) => {
      const ended = pipeline.runs.filter((run) => run.ended_at && run.state === 'succeeded').map((run) => Date.parse(run.ended_at!) - Date.parse(run.started_at)).sort((a, b) => a - b)
      return ended[Math.floor(ended.length / 2)]
    }
    const success = (pipeline: Pipeline) => {
      const ended = pipeline.runs.filter((run) => run.ended_at)
      return ended.length ? ended.filter((run) => run.state === 'succeeded').length / ended.length : undefined
    }
    return [
      { id: 'name', head: t('pipeline'), cell: (pipeline) => <Link className="name" href={`${base}/pipelines/${encodeURIComponent(pipeline.name)}`}>{pipeline.name}</Link> },
      {
        id: 'runs', head: t('pipeline.last_runs'),
        cell: (pipeline) => (
          <span className="glyphs">
            {pipeline.runs.slice(0, shown).reverse().map((run) => (
              <Link key={run.number} href={`${base}/pipelines/${encodeURIComponent(pipeline.name)}/${run.number}`} aria-label={`#${run.number} ${say(run.state)}`} title={`#${run.number} ${say(run.state)}`}>
                <Glyph name={glyph_of(run.state)} size={14} />
              </Link>
            ))}
          </span>
        ),
      },
      {
        id: 'now', head: t('jobs.now'), grow: true,
        cell: (pipeline) => {
          const last = pipeline.runs[0]
          return last ? <Link className="ink" href={`${base}/pipelines/${encodeURIComponent(pipeline.name)}/${last.number}`}><StatusText state={last.state} /> <span className="f">#{last.number} · <Time at={last.started_at} /></span></Link> : <span className="f">{t('pipeline.never')}</span>
        },
      },
      { id: 'trigger', head: t('pipeline.trigger'), className: 'm', cell: (pipeline) => (pipeline.armed && pipeline.on_dataset ? t('pipeline.on', { dataset: pipeline.on_dataset }) : t('pipeline.manual')) },
      { id: 'lead', head: t('pipeline.lead'), right: true, cell: (pipeline) => format.duration(took(pipeline)) },
      { id: 'success', head: t('pipeline.success'), right: true, cell: (pipeline) => format.percent(success(pipeline), 0) },
      { id: 'by', head: t('by'), className: 'm', cell: (pipeline) => pipeline.created_by },
      { id: 'updated', head: t('pipeline.updated'), right: true, className: 'm', cell: (pipeline) => <Time at={pipeline.updated_at} /> },
    ]
  }, [t, format, base, say])
  return (
    <div className="page page-pipelines">
      <Head title={t('nav.pipelines')} sub={pipelines.data && t('pipeline.count', { n: pipelines.data.length })} />
      <Loaded query={pipelines} what={t('pipeline.list.error')}>
        {(items) => (
          <section className="panel">
            {items.length === 0 ? (
              <Empty title={t('pipeline.none')} text={t('pipeline.none.text')} command="takt pipeline run FILE -p key=value" />
            ) : (
              <DataTable label={t('nav.pipelines')} columns={columns} rows={items} row_key={(pipeline) => pipeline.name} row_to={(pipeline) => `${base}/pipelines/${encodeURIComponent(pipeline.name)}`} />
            )}
          </section>
        )}
      </Loaded>
    </div>
  )
}
