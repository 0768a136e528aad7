// SPDX-License-Identifier: Apache-2.0
// Why: the reason of one thing in words first, then its lineage in both directions.
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import { why_query, type WhyAnswer } from '../../api/spine'
import { useBase, usePage, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { download } from '../../lib/download'
import { path_of_ref, short_ref, one_of, useParams_of_url } from '../../lib/url'
import { StatusPill } from '../../ui/status'
import { Button, Copy, Crumbs, Facts, Head, Panel, Segments } from '../../ui/parts'
import { LineageDrawing, LineageList } from '../../ui/lineage'
import { Loaded } from '../../ui/states'
import './why.css'

const depths = ['8', '1', '3', '64'] as const

export default function WhyPage() {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const params_of_path = useParams<{ '*': string }>()
  const ref = decodeURIComponent(params_of_path['*'] ?? '')
  const [params, set_params] = useParams_of_url()
  const depth = one_of(params.get('depth'), depths)
  const view = one_of(params.get('view'), ['graph', 'list'])
  const why = useQuery(why_query(project, ref, Number(depth)))
  const answer = why.data
  const subject = answer?.ref ?? ref
  usePage({ title: t('why.of', { name: short_ref(subject) }), command: { cli: `takt why ${ref}`, route: `/api/v1/why?ref=${encodeURIComponent(ref)}&depth=${depth}` } })
  const to = path_of_ref(project, subject)
  return (
    <div className="page page-why">
      <Crumbs items={[[t('why')], [short_ref(subject), to]]} />
      <Loaded query={why} title={t('why.of', { name: short_ref(ref) })} what={t('why.error', { name: ref })} rows={6}>
        {(data) =>
          !data.ref && data.candidates.length ? (
            <>
            <Head title={t('why.of', { name: ref })} />
            <Panel title={t('go.many', { any: ref })}>
              <ul className="plain">
                {data.candidates.map((candidate) => (
                  <li key={candidate}><Link href={`${base}/why/${candidate}`}>{candidate}</Link></li>
                ))}
              </ul>
            </Panel>
            </>
          ) : (
            <>
              <Head title={data.title || short_ref(subject)} pill={data.state ? <StatusPill state={data.state} /> : undefined}>
                {to && !to.includes('/why/') && <Link className="btn" href={to}>{t('open')}</Link>}
                {data.lineage && <Button onClick={() => export_json(subject, data)}>JSON</Button>}
              </Head>
              <Answer answer={data} />
              {data.lineage && data.lineage.nodes.length > 0 && (
                <section className="panel" aria-label={t('lineage')}>
                  <div className="ph">
                    <h2>{t('lineage')}</h2>
                    <span className="f">{t('lineage.sub', { n: data.lineage.nodes.length })}</span>
                    <span className="side">
                      <Segments label={t('lineage.depth')} value={depth} onChange={(value) => set_params({ depth: value === '8' ? null : value })} options={[['1', '1'], ['3', '3'], ['8', '8'], ['64', '∞']]} />
                      <Segments label={t('lineage.view')} value={view} onChange={(value) => set_params({ view: value === 'graph' ? null : value })} options={[['graph', t('graph')], ['list', t('list')]]} />
                    </span>
                  </div>
                  {view === 'graph' ? <LineageDrawing graph={data.lineage} subject={subject} /> : <LineageList graph={data.lineage} />}
                </section>
              )}
            </>
          )
        }
      </Loaded>
    </div>
  )
}

function Answer({ answer }: { answer: WhyAnswer }) {
  const { t } = useText()
  const facts = Object.entries((answer.facts as Record<string, unknown> | undefined) ?? {}).filter(([, value]) => value !== null && value !== '' && !(typeof value === 'object' && Object.keys(value as object).length === 0))
  const lines = answer.lines ?? []
  const next = answer.next ?? []
  if (!lines.length && !next.length && !facts.length) return null
  return (
    <section className="panel answer" aria-label={t('why.answer')}>
      <div>
        {lines.map((line, index) => (
          <p key={index} className={index === 0 ? 'first' : 'm'}>{line}</p>
        ))}
        {next.length > 0 && (
          <>
            <h3>{t('why.next')}</h3>
            {next.map((step) => (
              <div className="run1" key={step}>
                <span className="grow">{step}</span>
                <Copy text={step} />
              </div>
            ))}
          </>
        )}
      </div>
      {facts.length > 0 && (
        <div className="answer-facts">
          <Facts items={facts.slice(0, 14).map(([name, value]) => [name.replaceAll('_', ' '), <span key={name} className={typeof value === 'object' || String(value).length > 24 ? 'mono wrap-any' : ''}>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</span>])} />
        </div>
      )}
    </section>
  )
}

function export_json(name: string, answer: WhyAnswer): void {
  download(`${name.replaceAll('/', '-')}.json`, `data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(answer, null, 2))}`)
}
