// SPDX-License-Identifier: Apache-2.0
// The profile of a table: one row a column with a small histogram; and the balance of its classes.
import { useState } from 'react'
import type { ColumnProfile, Profile } from '../../api/data'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { Panel } from '../../ui/parts'

const shown_at_first = 12

export function ProfileTable({ table }: { table: Profile['tables'][number] }) {
  const { t } = useText()
  const format = useFormat()
  const [all, set_all] = useState(false)
  const columns = all ? table.columns : table.columns.slice(0, shown_at_first)
  return (
    <Panel
      title={t('data.profile')}
      sub={t('data.profile.sub', { path: table.path, rows: format.number(table.rows), columns: table.columns.length })}
      side={table.columns.length > shown_at_first && (
        <button type="button" className="linkish" onClick={() => set_all(!all)}>
          {all ? t('show_fewer') : t('show_all', { n: table.columns.length })}
        </button>
      )}
      flush
    >
      <div className="scroll">
        <table className="num" aria-label={t('data.profile')}>
          <thead>
            <tr>
              <th>{t('data.column')}</th><th>{t('data.type')}</th><th className="r">{t('data.missing')}</th><th className="r">{t('data.distinct')}</th>
              <th className="r">{t('data.min')}</th><th className="r">{t('data.mean')}</th><th className="r">{t('data.max')}</th><th>{t('data.histogram')}</th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => (
              <tr key={column.name}>
                <td className="mono">{column.name}</td>
                <td className="m">{t(`data.type.${column.type}`)}</td>
                <td className={`r ${column.missing ? '' : 'f'}`}>{format.percent(table.rows ? column.missing / table.rows : 0, 2)}</td>
                <td className="r">{column.is_distinct_capped ? '≥ ' : ''}{format.number(column.distinct)}</td>
                <td className="r">{format.metric(column.min)}</td>
                <td className="r">{format.metric(column.mean)}</td>
                <td className="r">{format.metric(column.max)}</td>
                <td><Histogram column={column} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  )
}

function Histogram({ column }: { column: ColumnProfile }) {
  const bins = column.histogram ?? []
  const most = Math.max(1, ...bins)
  if (!bins.length) return null
  return (
    <svg width="80" height="20" viewBox="0 0 80 20" aria-hidden="true">
      {bins.map((count, index) => {
        const height = count ? Math.max(1, (count / most) * 18) : 0
        return <rect key={index} x={index * (80 / bins.length)} y={20 - height} width={80 / bins.length - 1} height={height} fill="var(--text-3)" />
      })}
    </svg>
  )
}

export function Balance({ balance }: { balance: NonNullable<Profile['class_balance']> }) {
  const { t } = useText()
  const format = useFormat()
  const most = Math.max(1, ...balance.classes.map((item) => item.count))
  const all = balance.classes.reduce((sum, item) => sum + item.count, 0)
  return (
    <Panel title={t('data.balance')} sub={t('data.balance.sub', { column: balance.column, n: balance.classes.length })}>
      <dl className="bal num">
        {balance.classes.slice(0, 20).map((item) => (
          <div key={item.value} className="kvr">
            <dt>{item.value}</dt>
            <dd><u><i style={{ width: `${(item.count / most) * 100}%` }} /></u></dd>
            <dd>{format.number(item.count)}</dd>
            <dd className="f">{format.percent(item.count / Math.max(1, all), 1)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}
