// SPDX-License-Identifier: Apache-2.0
// One dataset version: what changed since the last, its profile, checks, a look at it, and who uses it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { diff_query, files_query, preview_query, remove_version, version_query, versions_query, content_url, type DatasetVersion } from '../../api/data'
import { lineage_query } from '../../api/spine'
import { useBase, usePage, useProject, useShell } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat, type Format } from '../../lib/format'
import { parse_ref, path_of_ref, short_ref, useParams_of_url } from '../../lib/url'
import { Glyph, Icon, icon_of } from '../../ui/icon'
import { Button, copy_text, Crumbs, Digest, Head, Panel, Time } from '../../ui/parts'
import { Confirm } from '../../ui/dialog'
import { LineageStripOf, useKindWord } from '../../ui/lineage'
import { Menu } from '../../ui/menu'
import { Failure, Loaded, Skeleton } from '../../ui/states'
import { Change } from './change'
import { Balance, ProfileTable } from './profile'
import { PreviewPanel } from './preview'
import './data.css'

export default function DatasetPage() {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const [, navigate] = useLocation()
  const { name: whole = '' } = useParams<{ name: string }>()
  const asked = decodeURIComponent(whole)
  const at = asked.lastIndexOf('@')
  const name = at < 0 ? asked : asked.slice(0, at)
  const version = at < 0 ? 'latest' : asked.slice(at + 1)
  const [params, set_params] = useParams_of_url()
  const versions = useQuery(versions_query(project, name))
  const one = useQuery(version_query(project, name, version))
  const data = one.data
  const to = (number: number) => `${base}/data/${encodeURIComponent(name)}@${number}`
  const numbers = (versions.data ?? []).map((item) => item.version).sort((a, b) => a - b)
  const index = data ? numbers.indexOf(data.version) : -1
  const before = Number(params.get('diff')) || numbers[index - 1]
  const [removing, set_removing] = useState(false)
  const ref = data ? `${name}@${data.version}` : asked
  usePage({
    title: ref,
    command: { cli: `takt data show ${ref}`, route: `/api/v1/datasets/${encodeURIComponent(name)}/versions/${data?.version ?? version}` },
    actions: [
      { name: t('why.of', { name: ref }), command: `takt why dataset/${ref}`, run: () => navigate(`${base}/why/dataset/${ref}`) },
      { name: t('data.get'), command: `takt data get ${ref} PATH`, run: () => void copy_text(`takt data get ${ref} PATH`) },
    ],
    keys: {
      d: () => document.getElementById('change')?.focus(),
      '[': () => { const next = numbers[index - 1]; if (next) navigate(to(next)) },
      ']': () => { const next = numbers[index + 1]; if (next) navigate(to(next)) },
    },
  })
  const newest = numbers[numbers.length - 1]
  return (
    <div className="page page-data">
      <Crumbs items={[[t('nav.data'), `${base}/data`], [name, `${base}/data/${encodeURIComponent(name)}`], ...(data ? [[String(data.version)] as [string]] : [])]} />
      <Loaded query={one} title={asked} what={t('data.version.error', { name: asked })} rows={8}>
        {(item) => (
          <>
            <VersionHead item={item} onRemove={() => set_removing(true)} />
            {at >= 0 && newest !== undefined && newest > item.version && (
              <p className="row"><Link className="chip sel" href={to(newest)}>{t('data.newer', { n: newest })}</Link></p>
            )}
            <LineageStripOf subject={item.ref} me={{ icon: 'data', name: short_ref(item.ref), fact: counts_of(item, t), me: true }} />
            {numbers.length > 1 && (
              <nav className="panel vers" aria-label={t('versions')}>
                {numbers.slice(-12).map((number) => (
                  <Link key={number} href={to(number)} aria-current={number === item.version ? 'page' : undefined}>
                    <b>v{number}</b>
                    <VersionFact version={versions.data?.find((entry) => entry.version === number)} />
                  </Link>
                ))}
              </nav>
            )}
            <div className="cols-2">
              <div className="stack-12">
                <ChangePanel name={name} item={item} before={before} onBefore={(number) => set_params({ diff: String(number) }, true)} numbers={numbers} />
                <Checks item={item} />
              </div>
              <div className="stack-12">
                {item.profile?.class_balance && <Balance balance={item.profile.class_balance} />}
                <UsedBy subject={item.ref} />
              </div>
            </div>
            {item.profile?.tables.map((table) => <ProfileTable key={table.path} table={table} />)}
            {item.profile?.tables.length ? <PreviewOf name={name} version={item.version} label_column={item.profile.class_balance?.column} /> : null}
            <Files name={name} item={item} />
            {removing && <RemoveVersion item={item} onClose={() => set_removing(false)} />}
          </>
        )}
      </Loaded>
    </div>
  )
}

type Say = ReturnType<typeof useText>['t']

function counts_of(item: DatasetVersion, t: Say): string {
  return typeof item.rows === 'number' ? t('data.rows', { n: item.rows }) : t('data.files', { n: item.files })
}

function VersionFact({ version }: { version: DatasetVersion | undefined }) {
  const { t } = useText()
  return <span className="num">{version ? counts_of(version, t) : ''}</span>
}

function VersionHead({ item, onRemove }: { item: DatasetVersion; onRemove: () => void }) {
  const { t } = useText()
  const format = useFormat()
  const { toast } = useShell()
  const ref = `${item.name}@${item.version}`
  const get = `takt data get ${ref} PATH`
  return (
    <Head
      title={ref}
      pill={item.checks ? <span className={`pill ${item.checks.passed ? 'green' : 'red'}`}><Glyph name={item.checks.passed ? 'ok' : 'bad'} size={14} />{item.checks.passed ? t('data.checks.pass') : t('data.checks.fail')}</span> : undefined}
      sub={<>{t('data.sub', { user: item.created_by, counts: counts_of(item, t), size: format.bytes(item.size_bytes) })} · <Time at={item.created_at} /> · <Digest value={item.tree} /></>}
    >
      <Button onClick={() => void copy_text(get).then(() => toast(t('toast.command')))}>{t('data.get')}</Button>
      <Menu label={t('more')} align="end" className="icb" button={<Icon name="more" />} items={[
        { word: t('data.use'), act: () => void copy_text(`inputs: {data: ${ref}}`).then(() => toast(t('data.use.done'))) },
        { word: t('data.delete'), act: onRemove, danger: true },
      ]} />
    </Head>
  )
}

function ChangePanel({ name, item, before, numbers, onBefore }: { name: string; item: DatasetVersion; before: number | undefined; numbers: number[]; onBefore: (number: number) => void }) {
  const { t } = useText()
  const project = useProject()
  const diff = useQuery({ ...diff_query(project, name, before ?? 0, item.version), enabled: before !== undefined && before !== item.version })
  const others = numbers.filter((number) => number !== item.version)
  return (
    <section className="panel" aria-label={t('data.change')} id="change" tabIndex={-1}>
      <div className="ph">
        <h2>{t('data.change')}</h2>
        {before !== undefined && <span className="f">{t('data.change.title', { from: before, to: item.version })}</span>}
        {others.length > 1 && (
          <span className="side">
            <Menu worded label={t('data.diff')} align="end" className="btn s" button={t('data.diff')} items={others.map((number) => ({ word: `@${number}`, current: number === before, act: () => onBefore(number) }))} />
          </span>
        )}
      </div>
      {before === undefined ? (
        <p className="pb f">{t('data.first')}</p>
      ) : diff.data ? (
        <Change diff={diff.data} />
      ) : diff.isError ? (
        <Failure what={t('data.diff.error')} error={diff.error} retry={() => void diff.refetch()} />
      ) : (
        <Skeleton rows={3} />
      )}
    </section>
  )
}

function Checks({ item }: { item: DatasetVersion }) {
  const { t } = useText()
  const format = useFormat()
  const report = item.checks
  return (
    <Panel title={t('data.checks')} sub={report ? t('data.checks.of', { passed: report.rules.filter((rule) => rule.passed).length, all: report.rules.length }) : undefined} flush>
      {report ? (
        <ul className="blk">
          {report.rules.map((rule, index) => (
            <li key={index}>
              <Glyph name={rule.passed ? 'ok' : 'bad'} />
              <span>
                {rule.message || rule_text(rule.rule)}
                <span className="mono">{rule_text(rule.rule)}</span>
              </span>
              <span className="num m seen">{observed_text(rule.observed, format)}</span>
            </li>
          ))}
        </ul>
      ) : (
        <p className="pb f">{t('data.checks.none')}</p>
      )}
    </Panel>
  )
}

/** The measured numbers, at most three; what is nested stands in the message already. */
function observed_text(observed: unknown, format: Format): string {
  if (!observed || typeof observed !== 'object') return ''
  return Object.entries(observed)
    .filter(([, value]) => typeof value !== 'object' && String(value).length < 24)
    .slice(0, 3)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? format.metric(value) : String(value)}`)
    .join(', ')
}

function rule_text(rule: unknown): string {
  if (!rule || typeof rule !== 'object') return String(rule ?? '')
  return Object.entries(rule).map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`).join(' ')
}

function UsedBy({ subject }: { subject: string }) {
  const { t } = useText()
  const project = useProject()
  const say = useKindWord()
  const graph = useQuery(lineage_query(project, subject, 8))
  const users = useMemo(() => (graph.data?.nodes ?? []).filter((node) => node.depth > 0 && !['node', 'pipeline'].includes(parse_ref(node.ref).kind)).sort((a, b) => a.depth - b.depth), [graph.data])
  return (
    <Panel title={t('data.used_by')} sub={graph.data && users.length}>
      {graph.isError ? <Failure what={t('lineage.error')} error={graph.error} retry={() => void graph.refetch()} /> : users.length === 0 ? (
        <p className="f">{t('data.used_by.none')}</p>
      ) : (
        <ul className="uses">
          {users.slice(0, 14).map((node) => {
            const to = path_of_ref(project, node.ref)
            const { kind } = parse_ref(node.ref)
            return (
              <li key={node.ref}>
                <Icon name={icon_of(kind)} size={14} />
                {to ? <Link href={to}>{short_ref(node.ref)}</Link> : short_ref(node.ref)}
                <span className="f">{say(kind)}</span>
              </li>
            )
          })}
          {users.length > 14 && <li className="f">{t('and_more', { n: users.length - 14 })}</li>}
        </ul>
      )}
    </Panel>
  )
}

function PreviewOf({ name, version, label_column }: { name: string; version: number; label_column: string | undefined }) {
  const { t } = useText()
  const project = useProject()
  const preview = useQuery(preview_query(project, name, version))
  return (
    <Loaded query={preview} what={t('data.preview.error')} rows={5}>
      {(data) => <PreviewPanel preview={data} label_column={label_column} />}
    </Loaded>
  )
}

function Files({ name, item }: { name: string; item: DatasetVersion }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const files = useQuery(files_query(project, name, item.version))
  return (
    <Panel title={t('data.files.title')} sub={t('data.files', { n: item.files })} flush>
      <Loaded query={files} what={t('data.files.error')}>
        {({ items, next_page_token }) => (
          <div className="scroll files">
            <table aria-label={t('data.files.title')}>
              <thead><tr><th>{t('data.path')}</th><th className="r">{t('size')}</th><th>{t('digest')}</th></tr></thead>
              <tbody>
                {items.slice(0, 200).map((file) => (
                  <tr key={file.path}>
                    <td><a href={content_url(project, name, item.version, file.path)} download className="mono">{file.path}</a></td>
                    <td className="r num">{format.bytes(file.size_bytes)}</td>
                    <td><Digest value={file.digest} length={16} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
            {(items.length > 200 || next_page_token) && <p className="f blk">{t('data.files.more', { n: Math.max(0, item.files - Math.min(200, items.length)) })}</p>}
          </div>
        )}
      </Loaded>
    </Panel>
  )
}

function RemoveVersion({ item, onClose }: { item: DatasetVersion; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const graph = useQuery(lineage_query(project, item.ref, 8))
  const uses = (graph.data?.nodes ?? []).filter((node) => node.depth > 0).length
  const ref = `${item.name}@${item.version}`
  return (
    <Confirm
      title={t('data.delete.title', { name: ref })}
      text={counts_of(item, t)}
      consequences={[uses ? { safe: false, text: t('data.delete.used', { n: uses }) } : { safe: true, text: t('data.delete.unused') }]}
      typed_name={ref}
      action={t('delete')}
      keep={t('keep')}
      kind="danger"
      act={async () => {
        await remove_version(project, item.name, item.version, false)
        await queries.invalidateQueries({ queryKey: ['data'] })
        navigate(`${base}/data`)
      }}
      onClose={onClose}
    />
  )
}
