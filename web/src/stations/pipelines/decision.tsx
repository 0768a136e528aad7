// SPDX-License-Identifier: Apache-2.0
// The right side of a run: the question that waits for a person, and the facts of the chosen node.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { ApiError } from '../../api/client'
import { decide_node, type PipelineNode, type PipelineRun } from '../../api/pipelines'
import { service_query } from '../../api/services'
import { useBase, useProject, useSession } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useNow } from '../../lib/now'
import { parse_ref, path_of_ref, short_ref } from '../../lib/url'
import { Glyph, type GlyphName } from '../../ui/icon'
import { glyph_of, StatusText } from '../../ui/status'
import { Button, Facts, Panel, Time } from '../../ui/parts'
import { Confirm } from '../../ui/dialog'
import { node_span_ms, numbers_of, result_of } from './model'

export function Decision({ run, node }: { run: PipelineRun; node: PipelineNode }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const project = useProject()
  const { user } = useSession()
  const queries = useQueryClient()
  const [note, set_note] = useState('')
  const [busy, set_busy] = useState(false)
  const [error, set_error] = useState<string>()
  const [rejecting, set_rejecting] = useState(false)
  const approve = node.approve
  if (!approve) return null
  const own = approve.by === 'not-submitter' && run.started_by === user
  const lock = own ? t('approve.own') : undefined
  const decide = async (decision: 'approve' | 'reject', text: string) => {
    await decide_node(project, run.pipeline, run.number, node.name, decision, text)
    await queries.invalidateQueries({ predicate: (query) => ['pipelines', 'line', 'services'].includes(String(query.queryKey[0])) })
  }
  const act = async () => {
    set_busy(true)
    set_error(undefined)
    try {
      await decide('approve', note.trim())
    } catch (failure) {
      set_error(failure instanceof ApiError ? [failure.message, failure.hint].filter(Boolean).join(' ') : String(failure))
    }
    set_busy(false)
  }
  const asked = approve.asked_at ? now - Date.parse(approve.asked_at) : undefined
  return (
    <section className="panel ap" aria-label={t('approve')}>
      <div className="ph">
        <h2 className="t-violet">{node.name}</h2>
        <span className="f">{t('approve.waits', { span: format.span(asked) })}</span>
      </div>
      <div className="pb">
        <p className="ask">{approve.question}</p>
        <NowThen node={node} />
        <ul className="evl">
          {evidence_of(run, node).map((item, index) => (
            <li key={index}>
              <Glyph name={item.glyph} />
              <span><b>{item.title}</b><span>{item.text}</span></span>
            </li>
          ))}
          {approve.by === 'not-submitter' && (
            <li>
              <Glyph name={own ? 'bad' : 'ok'} />
              <span><b>{own ? t('approve.is_own') : t('approve.not_own')}</b><span>{t('approve.submitter', { user: run.started_by })}</span></span>
            </li>
          )}
        </ul>
        <label>
          <h3>{t('approve.note')}</h3>
          <textarea value={note} placeholder={t('approve.note.hint')} onChange={(event) => set_note(event.target.value)} />
        </label>
        {error && <p className="t-red" role="alert">{error}</p>}
        <div className="row">
          <Button kind="approve" className="grow" busy={busy} locked={lock} onClick={() => void act()}>{t('approve.act', { node: node.name })}</Button>
          <Button kind="danger" onClick={() => set_rejecting(true)}>{t('reject_more')}</Button>
        </div>
        {lock && <p className="f small">{lock}</p>}
      </div>
      {rejecting && (
        <Confirm
          title={t('reject.title', { node: node.name, run: `${run.pipeline} #${run.number}` })}
          consequences={[{ safe: true, text: t('reject.text') }]}
          note={{ label: t('reject.reason'), required: true }}
          action={t('reject')}
          kind="danger"
          act={(text) => decide('reject', text)}
          onClose={() => set_rejecting(false)}
        />
      )}
    </section>
  )
}

/** What is live now and what would be, when the node takes a service. */
function NowThen({ node }: { node: PipelineNode }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const ref = Object.values(node.inputs ?? {}).find((value) => value.kind === 'service')?.ref
  const name = ref ? parse_ref(ref).name : undefined
  const service = useQuery({ ...service_query(project, name ?? ''), enabled: name !== undefined })
  const revisions = (service.data?.revisions ?? []).filter((revision) => revision.share > 0)
  const candidate = service.data?.canary ? service.data.revisions.find((revision) => revision.number === service.data?.canary?.revision) : undefined
  if (!revisions.length || !candidate) return null
  const stable = revisions.find((revision) => revision.number !== candidate.number)
  return (
    <div className="chg">
      <span className="f">{t('approve.now')}</span>
      <span>{revisions.map((revision, index) => <span key={revision.number}>{index > 0 && ', '}<b className="b">{short_ref(revision.model)}</b> {format.percent(revision.share / 100, 1)}</span>)}</span>
      <span className="f">{t('approve.then')}</span>
      <span><b className="b">{short_ref(candidate.model)}</b> 100%{stable && `, ${t('approve.kept', { revision: `r${stable.number}` })}`}</span>
    </div>
  )
}

interface Evidence {
  glyph: GlyphName
  title: string
  text: string
}

/** What the nodes before found: checks, gates and measured numbers. */
export function evidence_of(run: PipelineRun, node: PipelineNode): Evidence[] {
  const by_name = new Map((run.nodes ?? []).map((item) => [item.name, item]))
  const before = new Set<string>()
  const walk = (name: string) => {
    for (const need of by_name.get(name)?.needs ?? []) {
      if (before.has(need)) continue
      before.add(need)
      walk(need)
    }
    for (const edge of run.edges ?? []) {
      if (edge.to !== name || before.has(edge.from)) continue
      before.add(edge.from)
      walk(edge.from)
    }
  }
  walk(node.name)
  return (run.nodes ?? []).flatMap((item): Evidence[] => {
    if (!before.has(item.name)) return []
    const numbers = Object.values(item.outputs ?? {}).flatMap((value) => (value.kind === 'json' ? numbers_of(value.json) : []))
    const telling = numbers.length > 0 || ['validate', 'gate', 'register', 'deploy-canary'].includes(item.action)
    if (!telling) return []
    return [{ glyph: glyph_of(item.state), title: item.name, text: numbers.slice(0, 4).join(', ') || item.reason || result_of(item) }]
  })
}

export function NodeFacts({ run, node }: { run: PipelineRun; node: PipelineNode }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const base = useBase()
  const project = useProject()
  const link = (ref: string | undefined, fallback: string) => {
    const to = ref ? path_of_ref(project, ref) : undefined
    return to ? <Link href={to}>{short_ref(ref!)}</Link> : <span>{ref ? short_ref(ref) : fallback}</span>
  }
  const ports = (values: PipelineNode['inputs']) =>
    Object.entries(values ?? {}).map(([name, value]) => (
      <div key={name} className="port">
        <span className="f">{name}</span> {link(value.ref, value.digest.slice(0, 8))}
        {numbers_of(value.json).slice(0, 4).map((text) => <span key={text} className="mono port-n">{text}</span>)}
      </div>
    ))
  return (
    <Panel
      className="grow"
      title={node.name}
      sub={<StatusText state={node.state} />}
      side={node.work && link(node.work, '')}
    >
      {node.reason && <p className="node-reason">{node.reason}</p>}
      <Facts
        items={[
          [t('pipeline.action'), node.action],
          [t('pipeline.takes'), Object.keys(node.inputs ?? {}).length ? <div>{ports(node.inputs)}</div> : '–'],
          [t('pipeline.gives'), Object.keys(node.outputs ?? {}).length ? <div>{ports(node.outputs)}</div> : '–'],
          [t('pipeline.started'), <Time key="s" at={node.started_at} form="clock" />],
          [t('took'), format.duration(node_span_ms(node, now))],
          ...(node.attempt > 1 ? [[t('log.attempt_head'), node.attempt] as [string, number]] : []),
          ...(node.approve?.approver ? [[t('approve.by'), <span key="a" className="wrap-any">{node.approve.approver}{node.approve.note ? `: ${node.approve.note}` : ''}</span>] as [string, React.ReactNode]] : []),
          [t('why'), <Link key="w" href={`${base}/why/node/${run.pipeline}/${run.number}/${node.name}`}>{t('why.of', { name: node.name })}</Link>],
        ]}
      />
    </Panel>
  )
}
