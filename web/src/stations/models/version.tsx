// SPDX-License-Identifier: Apache-2.0
// One model version: where it came from, how it compares with production, and its aliases.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, Redirect, useLocation, useParams } from 'wouter'
import { model_check_query, model_evidence_query, model_files_query, model_query, model_versions_query, type Model, type ModelVersion } from '../../api/models'
import { services_query } from '../../api/services'
import { useBase, usePage, useProject, useSession } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { one_of, path_of_ref, short_ref, useParams_of_url } from '../../lib/url'
import { Glyph } from '../../ui/icon'
import { Button, Copy, Crumbs, Digest, Facts, Head, Panel, Tabs, Time } from '../../ui/parts'
import { LineagePanel } from '../../ui/lineage'
import { Empty, Loaded } from '../../ui/states'
import { AliasDialog } from './alias'
import { JudgeDialog, RollBackDialog } from './decide'
import { Evaluation } from './evaluation'
import { Files } from './files'
import { main_metric } from './list'
import { Rules, useGuardedAlias } from './rules'
import { Signature } from './signature'
import './models.css'

export default function ModelPage() {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const [, navigate] = useLocation()
  const { name: raw = '' } = useParams<{ name: string }>()
  const asked = decodeURIComponent(raw)
  const at = asked.lastIndexOf('@')
  const name = at < 0 ? asked : asked.slice(0, at)
  const wanted = at < 0 ? 'latest' : asked.slice(at + 1)
  const model = useQuery(model_query(project, name))
  const versions = useQuery(model_versions_query(project, name))
  const [moving, set_moving] = useState(false)
  const to = (number: number) => `${base}/models/${encodeURIComponent(name)}@${number}`
  const numbers = (versions.data ?? []).map((item) => item.version).sort((a, b) => a - b)
  const number = /^\d+$/.test(wanted) ? Number(wanted) : wanted === 'latest' ? model.data?.latest : model.data?.aliases[wanted]
  const version = versions.data?.find((item) => item.version === number)
  const ref = number ? `${name}@${number}` : asked
  usePage({
    title: ref,
    command: { cli: `takt why ${ref}`, route: `/api/v1/models/${encodeURIComponent(name)}/versions/${number ?? wanted}` },
    actions: [
      { name: t('why.of', { name: ref }), command: `takt why model/${ref}`, run: () => navigate(`${base}/why/model/${ref}`) },
      { name: t('model.alias.move'), command: `takt models alias ${ref} ALIAS`, run: () => set_moving(true) },
    ],
    keys: {
      d: () => document.getElementById('evaluation')?.focus(),
      '[': () => { const next = numbers[numbers.indexOf(number ?? 0) - 1]; if (next) navigate(to(next)) },
      ']': () => { const next = numbers[numbers.indexOf(number ?? 0) + 1]; if (next) navigate(to(next)) },
    },
  })
  // An alias leads to the number that it means now; the number can be pasted to a colleague.
  if (at >= 0 && !/^\d+$/.test(wanted) && number) return <Redirect to={to(number)} replace />
  return (
    <div className="page page-model">
      <Crumbs items={[[t('nav.models'), `${base}/models`], [name, `${base}/models/${encodeURIComponent(name)}`], ...(number ? [[String(number)] as [string]] : [])]} />
      <Loaded query={versions} title={asked} what={t('model.error', { name })} rows={8}>
        {(all) =>
          all.length === 0 ? (
            <><Head title={name} /><section className="panel"><Empty title={t('model.no_versions', { name })} command="takt models register NAME --run RUN" /></section></>
          ) : !version ? (
            <><Head title={asked} /><section className="panel"><Empty title={t('model.no_version', { name: asked })} text={t('model.known', { versions: numbers.join(', ') })} /></section></>
          ) : (
            <VersionView model={model.data} version={version} versions={all} to={to} onMove={() => set_moving(true)} />
          )
        }
      </Loaded>
      {moving && version && model.data && <AliasDialog model={model.data} version={version} onClose={() => set_moving(false)} />}
    </div>
  )
}

const tabs = ['files', 'signature', 'record'] as const

function VersionView({ model, version, versions, to, onMove }: { model: Model | undefined; version: ModelVersion; versions: ModelVersion[]; to: (number: number) => string; onMove: () => void }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const [params, set_params] = useParams_of_url()
  const tab = one_of(params.get('tab'), tabs)
  const guard = useGuardedAlias(model, version.name)
  const services = useQuery(services_query(project))
  const serving = (services.data ?? []).flatMap((service) => service.revisions.filter((revision) => revision.model.endsWith(`${version.name}@${version.version}`) && revision.share > 0).map((revision) => ({ service: service.name, revision })))
  const production = versions.find((item) => item.version === model?.aliases.production)
  const against = production && production.version !== version.version ? production : versions.find((item) => item.version < version.version)
  return (
    <>
      <Head
        title={`${version.name}@${version.version}`}
        pill={
          <>
            <GatePill version={version} alias={guard.alias} />
            {serving.map(({ service, revision }) => <span key={service} className="pill green"><Glyph name="ok" size={14} />{t('model.live_in', { service, share: format.number(revision.share) })}</span>)}
            <span className="tags">{version.aliases.map((alias) => <span className="tag" key={alias}>{alias}</span>)}</span>
          </>
        }
        sub={<>{t('model.sub', { user: version.created_by, size: format.bytes(version.size_bytes) })} · <Time at={version.created_at} /> · <RunsCode version={version} /></>}
      >
        <Decide model={model} version={version} alias={guard.alias} onMove={onMove} />
      </Head>
      <VersionStrip model={model} versions={versions} current={version.version} to={to} />
      <LineagePanel subject={version.ref} sub={t('model.lineage.sub')} />
      <div className="cols-2">
        <div className="stack-12">
          <Rules version={version} alias={guard.alias} aliases={guard.aliases} />
          <Panel flush>
            <div className="ph"><Tabs label={t('model.more')} value={tab} onChange={(value) => set_params({ tab: value === 'files' ? null : value })} options={[['files', t('model.files')], ['signature', t('model.signature')], ['record', t('job.record')]]} /></div>
            {tab === 'files' ? <Files version={version} /> : tab === 'signature' ? <Signature version={version} /> : <Record version={version} />}
          </Panel>
        </div>
        <Evaluation version={version} against={against} is_production={against !== undefined && against.version === model?.aliases.production} />
      </div>
    </>
  )
}

/** Whose turn it is, when rules stand between this version and the alias. */
function GatePill({ version, alias }: { version: ModelVersion; alias: string }) {
  const { t } = useText()
  const project = useProject()
  const check = useQuery(model_check_query(project, version.name, version.version, alias))
  const missing = (check.data?.rules ?? []).filter((rule) => rule.verdict !== 'passed')
  if (!missing.length || check.data?.holder === version.version) return null
  const only_person = missing.every((rule) => rule.kind === 'approval')
  return <span className={`pill ${only_person ? 'violet' : 'grey'}`}><Glyph name={only_person ? 'person' : 'stop'} size={14} />{only_person ? t('state.waiting_approval') : t('model.rules.missing', { n: missing.length })}</span>
}

/** Approve, reject, move, roll back: each asks first; what may not be done stays visible and says why. */
function Decide({ model, version, alias, onMove }: { model: Model | undefined; version: ModelVersion; alias: string; onMove: () => void }) {
  const { t } = useText()
  const project = useProject()
  const { user, role } = useSession()
  const [asking, set_asking] = useState<'approved' | 'rejected' | 'rollback'>()
  const check = useQuery(model_check_query(project, version.name, version.version, alias))
  const evidence = useQuery(model_evidence_query(project, version.name, version.version))
  const needs_person = check.data?.rules.some((rule) => rule.kind === 'approval' && rule.verdict !== 'passed') ?? false
  const may = role === 'operator' || role === 'admin'
  const lock = !may ? t('service.denied') : evidence.data?.submitters.includes(user) ? t('model.approve.own') : undefined
  const holder = model?.aliases[alias]
  return (
    <>
      {holder === version.version && <Button locked={may ? undefined : t('service.denied')} onClick={() => set_asking('rollback')}>{t('model.rollback_more', { alias })}</Button>}
      <Button onClick={onMove}>{t('model.alias.move_more')}</Button>
      {needs_person && <Button kind="danger" locked={may ? undefined : t('service.denied')} onClick={() => set_asking('rejected')}>{t('reject_more')}</Button>}
      {needs_person && <Button kind="approve" locked={lock} onClick={() => set_asking('approved')}>{t('model.approve_more')}</Button>}
      {asking === 'rollback' && <RollBackDialog name={version.name} alias={alias} holder={holder} onClose={() => set_asking(undefined)} />}
      {(asking === 'approved' || asking === 'rejected') && <JudgeDialog version={version} alias={alias} verdict={asking} onClose={() => set_asking(undefined)} />}
    </>
  )
}

function VersionStrip({ model, versions, current, to }: { model: Model | undefined; versions: ModelVersion[]; current: number; to: (number: number) => string }) {
  const { t } = useText()
  const format = useFormat()
  const shown = [...versions].sort((a, b) => a.version - b.version).slice(-10)
  return (
    <nav className="panel vers" aria-label={t('versions')}>
      {shown.map((item) => {
        const metric = main_metric(item)
        return (
          <Link key={item.version} href={to(item.version)} aria-current={item.version === current ? 'page' : undefined}>
            <b>v{item.version}</b>
            {item.aliases.slice(0, 2).map((alias) => <span className="tag" key={alias}>{alias}</span>)}
            <span className="num" title={metric?.[0]}>
              {item.version === model?.aliases.production && <Glyph name="ok" size={14} />}
              {metric ? format.metric(metric[1]) : '–'}
            </span>
          </Link>
        )
      })}
    </nav>
  )
}

/** What loading it would run, as the server read it from the opcodes of its pickles at registration. */
function RunsCode({ version }: { version: ModelVersion }) {
  const { t } = useText()
  const project = useProject()
  const files = useQuery(model_files_query(project, version.name, version.version))
  if (!version.code) return <span>{t('model.code_unknown')}</span>
  if (version.code.verdict === 'executes') return <span className="t-amber code-badge" title={version.code.globals.join(', ')}><Glyph name="warn" size={14} />{t('model.executes_code')}{version.code.globals.length > 0 && `: ${version.code.globals.slice(0, 2).join(', ')}`}</span>
  if (version.code.verdict === 'safe') return <span>{t('model.safe_pickle')}</span>
  return <span>{files.data?.some((file) => /\.onnx$/i.test(file.path)) ? t('model.onnx') : t('model.no_code')}</span>
}

function Record({ version }: { version: ModelVersion }) {
  const { t } = useText()
  const project = useProject()
  const run_path = version.run ? path_of_ref(project, version.run) : undefined
  const tags = Object.entries(version.tags)
  return (
    <div className="pb">
      <Facts
        items={[
          [t('run'), run_path ? <Link key="r" href={run_path}>{short_ref(version.run!)}</Link> : '–'],
          [t('digest'), <span key="d" className="row"><Digest value={version.tree} length={16} />{version.tree && <Copy text={version.tree} />}</span>],
          [t('model.source'), <span key="s" className="mono wrap-any">{version.source || '–'}</span>],
          [t('by'), version.created_by],
          [t('model.registered'), <Time key="t" at={version.created_at} />],
          ...(version.description ? [[t('note'), <span key="n" className="wrap-any">{version.description}</span>] as [string, React.ReactNode]] : []),
          ...tags.map(([key, value]): [string, React.ReactNode] => [key, <span key={key} className="wrap-any">{value}</span>]),
        ]}
      />
    </div>
  )
}

