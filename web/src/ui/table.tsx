// SPDX-License-Identifier: Apache-2.0
// The data table: sticky head, rows by keys (j k x Enter), sorting by the caller, virtual from 100 rows.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { typing_in } from '../app/keys'
import { useText } from '../i18n'

export interface Column<T> {
  id: string
  head: ReactNode
  cell: (row: T) => ReactNode
  right?: boolean
  sort?: string
  className?: string
  grow?: boolean
}

interface Props<T> {
  columns: Column<T>[]
  rows: T[]
  row_key: (row: T) => string
  row_to?: (row: T) => string | undefined
  row_class?: (row: T) => string
  sort?: { by: string; descending: boolean }
  onSort?: (by: string) => void
  onMark?: (row: T) => void
  label: string
  className?: string
  row_height?: number
  group_head?: ReactNode
  /** Called when the last rows come into view: time to load more. */
  onEnd?: () => void
}

const virtual_from = 100

export function DataTable<T>(props: Props<T>) {
  const { t } = useText()
  // State, not a ref: the virtual rows must draw again when the scroller is there.
  const [scroller, set_scroller] = useState<HTMLDivElement | null>(null)
  useRowKeys(scroller)
  const [held, hold] = useHeldRows(props.rows, props.row_key)
  const rows = held.rows
  const virtual = rows.length > virtual_from
  const shown = { ...props, rows }
  return (
    <div className={`scroll ${virtual ? 'virtual' : ''} ${props.className ?? ''}`} ref={set_scroller} tabIndex={virtual ? 0 : undefined} onPointerEnter={() => hold(true)} onPointerLeave={() => hold(false)}>
      {held.waiting > 0 && (
        <button type="button" className="new-rows" onClick={() => hold(false)}>
          {t('table.new', { n: held.waiting })}
        </button>
      )}
      <table aria-label={props.label} aria-rowcount={virtual ? rows.length + 1 : undefined}>
        <thead>
          {props.group_head}
          <tr>
            {props.columns.map((column) => (
              <Head key={column.id} column={column} sort={props.sort} onSort={props.onSort && ((by) => { hold(false); props.onSort?.(by) })} />
            ))}
          </tr>
        </thead>
        {virtual ? <VirtualRows {...shown} scroller={scroller} /> : (
          <tbody>
            {rows.map((row) => (
              <Row key={props.row_key(row)} row={row} {...shown} />
            ))}
          </tbody>
        )}
      </table>
    </div>
  )
}

/** While the pointer is over the table no row moves: known rows change in place, new ones wait. */
function useHeldRows<T>(rows: T[], row_key: (row: T) => string): [{ rows: T[]; waiting: number }, (hold: boolean) => void] {
  const [order, set_order] = useState<string[]>()
  const held = useMemo(() => {
    if (!order) return { rows, waiting: 0 }
    const by_key = new Map(rows.map((row) => [row_key(row), row]))
    const kept = order.flatMap((key) => by_key.get(key) ?? [])
    // Another question, such as a new filter or more pages, is no reason to wait.
    const is_same = kept.length > 0 && kept.length * 2 >= order.length
    const waiting = rows.length - kept.length
    const is_more = waiting > 0 && kept.length === order.length && order.every((key, index) => row_key(rows[index]!) === key)
    return is_same && !is_more ? { rows: kept, waiting } : { rows, waiting: 0 }
  }, [rows, order, row_key])
  const sorted_by_hand = order !== undefined && held.waiting === 0
  const hold = (value: boolean) => set_order(value ? rows.map(row_key) : undefined)
  return [sorted_by_hand ? { rows, waiting: 0 } : held, hold]
}

function Head<T>({ column, sort, onSort }: { column: Column<T>; sort: Props<T>['sort']; onSort: Props<T>['onSort'] }) {
  const { t } = useText()
  const sorted = column.sort !== undefined && sort?.by === column.sort
  const direction = sorted ? (sort.descending ? 'descending' : 'ascending') : undefined
  return (
    <th scope="col" className={`${column.right ? 'r' : ''} ${sorted ? 'so' : ''} ${column.className ?? ''}`} aria-sort={direction}>
      {column.sort && onSort ? (
        <button type="button" className="sorter" title={t('table.sort')} onClick={() => onSort(column.sort!)}>
          {column.head}
          {sorted && <span aria-hidden="true"> {sort.descending ? '↓' : '↑'}</span>}
        </button>
      ) : (
        column.head
      )}
    </th>
  )
}

function Row<T>({ row, columns, row_to, row_class, row_key, onMark, index }: { row: T; index?: number } & Props<T>) {
  const [, navigate] = useLocation()
  const to = row_to?.(row)
  return (
    <tr
      tabIndex={-1}
      data-row={row_key(row)}
      aria-rowindex={index === undefined ? undefined : index + 2}
      className={`${to ? 'go' : ''} ${row_class?.(row) ?? ''}`}
      onClick={(event) => {
        if (!to || event.defaultPrevented || window.getSelection()?.toString()) return
        if ((event.target as HTMLElement).closest('a,button,input,label')) return
        navigate(to)
      }}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget) return
        if (event.key === 'Enter' && to) navigate(to)
        if (event.key === 'x' && onMark) onMark(row)
      }}
    >
      {columns.map((column) => (
        <td key={column.id} className={`${column.right ? 'r num' : ''} ${column.grow ? 'clip' : ''} ${column.className ?? ''}`}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

function VirtualRows<T>({ scroller, ...props }: Props<T> & { scroller: HTMLDivElement | null }) {
  const height = props.row_height ?? 32
  const virtualizer = useVirtualizer({
    count: props.rows.length,
    getScrollElement: () => scroller,
    estimateSize: () => height,
    overscan: 12,
  })
  const items = virtualizer.getVirtualItems()
  const last_index = items[items.length - 1]?.index ?? 0
  const { onEnd } = props
  useEffect(() => {
    if (last_index >= props.rows.length - 30) onEnd?.()
  }, [last_index, props.rows.length])
  const before = items[0]?.start ?? 0
  const after = virtualizer.getTotalSize() - (items[items.length - 1]?.end ?? 0)
  return (
    <tbody>
      {before > 0 && <Spacer height={before} span={props.columns.length} />}
      {items.map((item) => {
        const row = props.rows[item.index]
        return row === undefined ? null : <Row key={props.row_key(row)} row={row} index={item.index} {...props} />
      })}
      {after > 0 && <Spacer height={after} span={props.columns.length} />}
    </tbody>
  )
}

function Spacer({ height, span }: { height: number; span: number }) {
  return (
    <tr aria-hidden="true" className="spacer">
      <td colSpan={span} style={{ height }} />
    </tr>
  )
}

/** j and k move the focus along the rows of the first table on the page that has any. */
export function useRowKeys(scroller: HTMLDivElement | null): void {
  useEffect(() => {
    const on_key = (event: KeyboardEvent) => {
      if ((event.key !== 'j' && event.key !== 'k') || typing_in(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const tables = document.querySelectorAll('main .scroll table tbody tr[data-row]')
      const first = tables[0]
      const current = document.activeElement?.closest('tr[data-row]')
      const own = scroller
      if (!own || !(current ? own.contains(current) : first && own.contains(first))) return
      const rows = [...own.querySelectorAll<HTMLElement>('tbody tr[data-row]')]
      const index = current ? rows.indexOf(current as HTMLElement) : event.key === 'j' ? -1 : rows.length
      const next = rows[index + (event.key === 'j' ? 1 : -1)]
      if (next) {
        next.focus()
        next.scrollIntoView({ block: 'nearest' })
        event.preventDefault()
      }
    }
    window.addEventListener('keydown', on_key)
    return () => window.removeEventListener('keydown', on_key)
  }, [scroller])
}
