// SPDX-License-Identifier: Apache-2.0
// A table of any size in both directions: only what is in sight stands in the document, the first columns and the
// baseline stay where they are, and j k x Enter walk the rows.
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useMemo, useState, type CSSProperties, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { useText } from '../../i18n'
import { useRowKeys } from '../../ui/table'

export interface GridColumn<T> {
  id: string
  head: ReactNode
  cell: (row: T) => ReactNode
  width: number
  right?: boolean
  sort?: string
  className?: string
  /** Columns with the same group stand under one word. */
  group?: string
}

export interface GridProps<T> {
  label: string
  /** Stay at the left; the last of them takes the room that is left over. */
  pinned: GridColumn<T>[]
  columns: GridColumn<T>[]
  rows: T[]
  /** Rows that exist; more than `rows` while not all are loaded. */
  total: number
  /** Stands above all rows and stays in sight. */
  base: T | undefined
  row_key: (row: T) => string
  row_to: (row: T) => string
  row_class: (row: T) => string
  sort: { by: string; descending: boolean }
  onSort: (by: string) => void
  onMark: (row: T) => void
  /** Rows up to this one are in sight. */
  onReach: (index: number) => void
  onSight: (rows: T[], columns: string[]) => void
}

const row_height = 28
const overscan_rows = 8
const overscan_columns = 2
const second_head_top = 24

export function Grid<T>(props: GridProps<T>) {
  const { pinned, columns, rows, total, base } = props
  // State, not a ref: the virtual rows must draw again when the scroller is there.
  const [scroller, set_scroller] = useState<HTMLDivElement | null>(null)
  useRowKeys(scroller)
  const pinned_width = pinned.reduce((sum, column) => sum + column.width, 0)
  const down = useVirtualizer({ count: total, getScrollElement: () => scroller, estimateSize: () => row_height, overscan: overscan_rows })
  const across = useVirtualizer({ horizontal: true, count: columns.length, getScrollElement: () => scroller, estimateSize: (index) => columns[index]!.width, overscan: overscan_columns, paddingStart: pinned_width })
  useEffect(() => across.measure(), [columns])
  const items = down.getVirtualItems()
  const cells = across.getVirtualItems()
  const from = cells[0]?.index ?? 0
  const to = cells[cells.length - 1]?.index ?? -1
  const shown = useMemo(() => columns.slice(from, to + 1), [columns, from, to])
  const before = (cells[0]?.start ?? pinned_width) - pinned_width
  const after = Math.max(0, across.getTotalSize() - (cells[cells.length - 1]?.end ?? pinned_width))
  const window: ColumnWindow<T> = useMemo(() => ({ pinned, shown, first: pinned.length + from + 1, before: before > 0, after: after > 0 }), [pinned, shown, from, before > 0, after > 0])

  const last = items[items.length - 1]?.index ?? 0
  const first = items[0]?.index ?? 0
  const { onReach, onSight } = props
  useEffect(() => onReach(last), [last, rows.length, total])
  useEffect(() => onSight(rows.slice(first, last + 1), shown.map((column) => column.id)), [first, last, shown, rows])

  const above = items[0]?.start ?? 0
  const below = down.getTotalSize() - (items[items.length - 1]?.end ?? 0)
  const span = pinned.length + shown.length + Number(window.before) + Number(window.after)
  return (
    <div className="scroll virtual rt" ref={set_scroller} tabIndex={0} role="region" aria-label={props.label}>
      <table aria-label={props.label} aria-rowcount={total + 1} aria-colcount={pinned.length + columns.length} style={{ width: `max(100%, ${across.getTotalSize()}px)` }}>
        <colgroup>
          {pinned.map((column, index) => <col key={column.id} style={index === pinned.length - 1 ? undefined : { width: column.width }} />)}
          {window.before && <col style={{ width: before }} />}
          {shown.map((column) => <col key={column.id} style={{ width: column.width }} />)}
          {window.after && <col style={{ width: after }} />}
        </colgroup>
        <thead>
          <GroupHeads window={window} />
          <tr aria-rowindex={1}>
            {pinned.map((column, index) => <HeadCell key={column.id} column={column} left={left_of(pinned, index)} index={index + 1} {...props} />)}
            {window.before && <th aria-hidden="true" className="gap" />}
            {shown.map((column, index) => <HeadCell key={column.id} column={column} index={window.first + index} {...props} />)}
            {window.after && <th aria-hidden="true" className="gap" />}
          </tr>
        </thead>
        {base !== undefined && (
          <tbody className="held">
            <GridRow row={base} to={props.row_to(base)} id={props.row_key(base)} className={props.row_class(base)} window={window} onMark={props.onMark} />
          </tbody>
        )}
        <tbody>
          {above > 0 && <tr aria-hidden="true" className="spacer"><td colSpan={span} style={{ height: above }} /></tr>}
          {items.map((item) => {
            const row = rows[item.index]
            return row === undefined ? (
              <tr key={`empty-${item.index}`} className="unloaded" aria-hidden="true"><td colSpan={span}><i /></td></tr>
            ) : (
              <GridRow key={props.row_key(row)} row={row} id={props.row_key(row)} to={props.row_to(row)} index={item.index + 2} className={props.row_class(row)} window={window} onMark={props.onMark} />
            )
          })}
          {below > 0 && <tr aria-hidden="true" className="spacer"><td colSpan={span} style={{ height: below }} /></tr>}
        </tbody>
      </table>
    </div>
  )
}

interface ColumnWindow<T> {
  pinned: GridColumn<T>[]
  shown: GridColumn<T>[]
  /** aria-colindex of the first shown column. */
  first: number
  before: boolean
  after: boolean
}

function left_of<T>(pinned: GridColumn<T>[], index: number): number {
  return pinned.slice(0, index).reduce((sum, column) => sum + column.width, 0)
}

/** One word above neighbouring columns of the same group. */
function GroupHeads<T>({ window }: { window: ColumnWindow<T> }) {
  const groups: { word: string; span: number }[] = []
  for (const column of window.shown) {
    const last = groups[groups.length - 1]
    if (last && last.word === (column.group ?? '')) last.span++
    else groups.push({ word: column.group ?? '', span: 1 })
  }
  return (
    <tr className="gh" aria-hidden="true">
      <th colSpan={window.pinned.length} className="pin0"><span>{window.pinned[window.pinned.length - 1]?.group}</span></th>
      {window.before && <th className="gap" />}
      {groups.map((group, index) => <th key={index} colSpan={group.span}>{group.word && <span>{group.word}</span>}</th>)}
      {window.after && <th className="gap" />}
    </tr>
  )
}

function HeadCell<T>({ column, sort, onSort, left, index }: { column: GridColumn<T>; left?: number; index: number } & GridProps<T>) {
  const { t } = useText()
  const sorted = column.sort !== undefined && sort.by === column.sort
  const style: CSSProperties = { top: second_head_top, ...(left === undefined ? {} : { left }) }
  return (
    <th scope="col" aria-colindex={index} style={style} className={`${column.right ? 'r' : ''} ${sorted ? 'so' : ''} ${left === undefined ? '' : 'pin'} ${column.className ?? ''}`} aria-sort={sorted ? (sort.descending ? 'descending' : 'ascending') : undefined}>
      {column.sort ? (
        <button type="button" className="sorter" title={`${column.sort}: ${t('table.sort')}`} onClick={() => onSort(column.sort!)}>
          {column.head}
          {sorted && <span aria-hidden="true"> {sort.descending ? '↓' : '↑'}</span>}
        </button>
      ) : (
        column.head
      )}
    </th>
  )
}

interface RowProps<T> {
  row: T
  id: string
  to: string
  index?: number
  className: string
  window: ColumnWindow<T>
  onMark: (row: T) => void
}

const GridRow = memo(function GridRow<T>({ row, id, to, index, className, window, onMark }: RowProps<T>) {
  const [, navigate] = useLocation()
  return (
    <tr
      tabIndex={-1}
      data-row={id}
      aria-rowindex={index}
      className={`go ${className}`}
      onClick={(event) => {
        if (event.defaultPrevented || globalThis.getSelection()?.toString()) return
        if ((event.target as HTMLElement).closest('a,button,input,label')) return
        navigate(to)
      }}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget) return
        if (event.key === 'Enter') navigate(to)
        if (event.key === 'x') onMark(row)
      }}
    >
      {window.pinned.map((column, place) => (
        <td key={column.id} aria-colindex={place + 1} className={`pin ${column.className ?? ''}`} style={{ left: left_of(window.pinned, place) }}>{column.cell(row)}</td>
      ))}
      {window.before && <td aria-hidden="true" className="gap" />}
      {window.shown.map((column, place) => (
        <td key={column.id} aria-colindex={window.first + place} className={`${column.right ? 'r num' : ''} ${column.className ?? ''}`}>{column.cell(row)}</td>
      ))}
      {window.after && <td aria-hidden="true" className="gap" />}
    </tr>
  )
}) as <T>(props: RowProps<T>) => ReactNode
