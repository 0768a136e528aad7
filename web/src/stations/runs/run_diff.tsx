// SPDX-License-Identifier: Apache-2.0
// What two runs were made of, held against each other: code, environment, data, settings; and what first differs.
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { run_diff_query, type Run, type RunDiff } from '../../api/runs'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import type { Look } from '../../lib/metrics'
import { UnifiedDiff } from '../../ui/diff'
import { Glyph, Icon } from '../../ui/icon'
import { Menu } from '../../ui/menu'
import { Loaded } from '../../ui/states'
import { RunWord } from './run_word'

type Change = RunDiff['params']['items'][number]

export function MadeOf({ runs, base, looks }: { runs: Run[]; base: Run | undefined; looks: Map<string, Look> }) {
  const { t } = useText()
  const project = useProject()
  const first = base ?? runs[0]
  const others = runs.filter((run) => run.id !== first?.id)
  const [chosen, set_chosen] = useState<string>()
  const other = others.find((run) => run.id === chosen) ?? others[0]
  const diff = useQuery({ ...run_diff_query(project, first?.id ?? '', other?.id ?? ''), enabled: first !== undefined && other !== undefined })
  if (!first || !other) return <p className="f">{t('compare.two')}</p>
  return (
    <>
      <div className="row wrap diff-head">
        <RunWord run={first} look={looks.get(first.id)} />
        <span className="f">→</span>
        {others.length > 1 ? (
          <Menu worded label={t('compare.other')} className="linkish" button={<b>{other.name || other.id.slice(0, 8)} <Icon name="down" size={12} className="inl" /></b>} items={others.map((run) => ({ word: run.name || run.id.slice(0, 8), current: run.id === other.id, act: () => set_chosen(run.id) }))} />
        ) : <RunWord run={other} look={looks.get(other.id)} />}
      </div>
      <Loaded query={diff} what={t('compare.diff.error')} rows={4}>{(data) => <DiffView diff={data} />}</Loaded>
    </>
  )
}

function DiffView({ diff }: { diff: RunDiff }) {
  const { t } = useText()
  const same = (n: number) => (n > 0 ? t('compare.same_count', { n }) : '')
  return (
    <>
      <p className="row diff-verdict">
        <Glyph name={diff.first_difference ? 'warn' : 'ok'} />
        {diff.first_difference ? t('compare.first_difference', { what: diff.first_difference }) : t('compare.made_same')}
      </p>
      <Part title={t('compare.part.code')} same={diff.code.is_same} note={diff.code.before && diff.code.after ? '' : t('compare.one_record')} is_recorded={known(diff.code)}>
        {diff.code.files.map((file) => <CodeFile key={file.path} file={file} />)}
        {diff.code.left_out > 0 && <p className="f">{t('and_more', { n: diff.code.left_out })}</p>}
      </Part>
      <Part title={t('compare.part.environment')} same={diff.environment.is_same} note={same(diff.environment.same)} is_recorded={known(diff.environment)}>
        <Changes items={diff.environment.packages} label={t('compare.part.environment')} />
      </Part>
      <Part title={t('compare.part.data')} same={diff.data.items.length === 0} note={same(diff.data.same)} is_recorded={diff.data.items.length + diff.data.same > 0}><Changes items={diff.data.items.map(with_counts)} label={t('compare.part.data')} /></Part>
      <Part title={t('compare.part.parameters')} same={diff.params.items.length === 0} note={same(diff.params.same)}><Changes items={diff.params.items} label={t('compare.part.parameters')} /></Part>
      <Part title={t('compare.part.settings')} same={diff.settings.items.length === 0}><Changes items={diff.settings.items} label={t('compare.part.settings')} /></Part>
      <MetricChanges diff={diff} />
    </>
  )
}

const known = ({ before, after }: { before?: string; after?: string }): boolean => Boolean(before ?? after)

function with_counts(item: RunDiff['data']['items'][number]): Change {
  const counted = (text: string | undefined, counts: { rows?: number; files: number } | undefined) => (text === undefined ? undefined : counts ? `${text} (${counts.rows ?? counts.files})` : text)
  return { name: item.name, before: counted(item.before, item.before_counts), after: counted(item.after, item.after_counts) }
}

function Part({ title, same, note, is_recorded = true, children }: { title: string; same: boolean; note?: string; is_recorded?: boolean; children: ReactNode }) {
  const { t } = useText()
  return (
    <section className="diff-part" aria-label={title}>
      <h3 className="row">{title} <span className="f">{!is_recorded ? t('compare.no_record') : same ? t('compare.part.same') : note}</span></h3>
      {!same && children}
    </section>
  )
}

function CodeFile({ file }: { file: RunDiff['code']['files'][number] }) {
  const { t } = useText()
  return (
    <div className="diff-file">
      <p className="row"><b className="mono">{file.path}</b><span className="t-green num">+{file.added}</span><span className="t-red num">−{file.removed}</span>{file.change !== 'changed' && <span className="f">{t(`compare.file.${file.change}`)}</span>}</p>
      {file.diff ? <UnifiedDiff diff={file.diff} label={file.path} /> : <p className="f" lang="en">{file.note}</p>}
    </div>
  )
}

function Changes({ items, label }: { items: Change[]; label: string }) {
  const { t } = useText()
  return (
    <div className="scroll">
      <table className="chgs" aria-label={label}>
        <thead><tr><th scope="col">{t('name')}</th><th scope="col">{t('compare.before')}</th><th scope="col">{t('compare.after')}</th></tr></thead>
        <tbody>
          {items.map((item) => <tr key={item.name}><td className="mono">{item.name}</td><td className="mono was wrap-any">{item.before ?? '–'}</td><td className="mono b wrap-any">{item.after ?? '–'}</td></tr>)}
        </tbody>
      </table>
    </div>
  )
}

function MetricChanges({ diff }: { diff: RunDiff }) {
  const { t } = useText()
  const format = useFormat()
  const say = (value: number | string | undefined) => (typeof value === 'number' ? format.metric(value) : (value ?? '–'))
  const items = diff.metrics.items.slice(0, 200).map((item) => ({ name: item.name, before: say(item.before as number | string), after: say(item.after as number | string) }))
  return <Part title={t('runs.metrics')} same={items.length === 0} note={diff.metrics.same > 0 ? t('compare.same_count', { n: diff.metrics.same }) : ''}><Changes items={items} label={t('runs.metrics')} /></Part>
}
