// SPDX-License-Identifier: Apache-2.0
// What changed between two versions: counts, then the first rows, old struck and new plain, signs besides colour.
import type { DatasetDiff } from '../../api/data'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'

export function Change({ diff }: { diff: DatasetDiff }) {
  const { t } = useText()
  const format = useFormat()
  const { added, removed, changed } = diff.files
  const rows_added = diff.rows.reduce((sum, table) => sum + table.added, 0)
  const rows_removed = diff.rows.reduce((sum, table) => sum + table.removed, 0)
  const nothing = !added.length && !removed.length && !changed.length && !rows_added && !rows_removed
  if (nothing) return <p className="pb f">{t('data.diff.none')}</p>
  return (
    <div className="pb diff">
      <p className="counts num">
        {diff.rows.length > 0 && <span>{t('data.diff.rows', { added: format.number(rows_added), removed: format.number(rows_removed) })}</span>}
        <span>{t('data.diff.files', { added: added.length, removed: removed.length, changed: changed.length })}</span>
      </p>
      {diff.rows.map((table) => (
        <div key={table.path}>
          <h3 className="mono">{table.path}</h3>
          <ol className="dl" lang="en">
            {table.removed_rows.map((row, index) => <li key={`r${index}`} className="del"><span aria-label={t('data.diff.removed')}>−</span><del>{row}</del></li>)}
            {table.added_rows.map((row, index) => <li key={`a${index}`} className="add"><span aria-label={t('data.diff.added')}>+</span><ins>{row}</ins></li>)}
          </ol>
          {(table.added > table.added_rows.length || table.removed > table.removed_rows.length) && (
            <p className="f">{t('data.diff.more', { n: table.added - table.added_rows.length + table.removed - table.removed_rows.length })}</p>
          )}
        </div>
      ))}
      {[...added.map((file) => ['+', file.path, file.size_bytes] as const), ...removed.map((file) => ['−', file.path, file.size_bytes] as const), ...changed.map((file) => ['~', file.path, file.after.size_bytes] as const)]
        .slice(0, 50)
        .map(([sign, path, size]) => (
          <p key={sign + path} className={`fl ${sign === '+' ? 'add' : sign === '−' ? 'del' : ''}`}>
            <span>{sign}</span> <span className="mono grow">{path}</span> <span className="num f">{format.bytes(size)}</span>
          </p>
        ))}
    </div>
  )
}
