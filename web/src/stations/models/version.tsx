// SPDX-License-Identifier: Apache-2.0
// One model version: where it came from, how it compares with production, and its aliases.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, Redirect, useLocation, useParams } from 'wouter'
import { model_files_query, model_query, model_versions_query, type Model, type ModelVersion } from '../../api/models'
import { services_query } from '../../api/services'
import { useBase, usePage, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { one_of, path_of_ref, short_ref, useParams_of_url } from '../../lib/url'
import { Glyph } from '../../ui/icon'
import { Button, Copy, Crumbs, Digest, Facts, Head, Panel, Tabs, Time } from '../../ui/parts'
import { LineagePanel } from '../../ui/lineage'
import { Empty, Loaded } from '../../ui/states'
import { AliasDialog } from './alias'
import { Evaluation } from './evaluation'
import { Files } from './files'
import { main_metric } from './list'
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

function VersionView({ model, version, versions, to, onMove }: { model: Model | undefined; version: ModelVersion; versions: ModelVersion[]; to: (number: number) => string; onMove: () => void }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const [params, set_params] = useParams_of_url()
  const tab = one_of(params.get('tab'), ['files', 'record'])
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
            {serving.map(({ service, revision }) => <span key={service} className="pill green"><Glyph name="ok" size={14} />{t('model.live_in', { service, share: format.number(revision.share) })}</span>)}
            <span className="tags">{version.aliases.map((alias) => <span className="tag" key={alias}>{alias}</span>)}</span>
          </>
        }
        sub={<>{t('model.sub', { user: version.created_by, size: format.bytes(version.size_bytes) })} · <Time at={version.created_at} /> · <RunsCode version={version} /></>}
      >
        <Button onClick={onMove}>{t('model.alias.move_more')}</Button>
      </Head>
      <VersionStrip model={model} versions={versions} current={version.version} to={to} />
      <LineagePanel subject={version.ref} sub={t('model.lineage.sub')} />
      <div className="cols-2">
        <Evaluation version={version} against={against} is_production={against !== undefined && against.version === model?.aliases.production} />
        <Panel flush>
          <div className="ph"><Tabs label={t('model.more')} value={tab} onChange={(value) => set_params({ tab: value === 'files' ? null : value })} options={[['files', t('model.files')], ['record', t('job.record')]]} /></div>
          {tab === 'files' ? <Files version={version} /> : <Record version={version} />}
        </Panel>
      </div>
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
  if (!version.code) return <span className="t-amber">{t('model.code_unknown')}</span>
  if (version.code.verdict === 'executes') return <span className="t-amber" title={version.code.globals.join(', ')}>{t('model.executes_code')}{version.code.globals.length > 0 && `: ${version.code.globals.slice(0, 2).join(', ')}`}</span>
  if (version.code.verdict === 'safe') return <span>{t('model.safe_pickle')}</span>
  const onnx = files.data?.some((file) => /\.onnx$/i.test(file.path))
  return <span>{onnx ? t('model.onnx') : t('model.no_code')}</span>
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

