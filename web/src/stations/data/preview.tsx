// SPDX-License-Identifier: Apache-2.0
// A look at the first rows: as a table, and as pictures where the columns are the pixels of a square image.
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Preview } from '../../api/data'
import { useText } from '../../i18n'
import { Panel, Segments } from '../../ui/parts'
import { DataTable, type Column } from '../../ui/table'

/** The columns that are pixels: at least 16 with one stem and running numbers, and a square count of them. */
export function pixel_columns(columns: string[]): number[] | undefined {
  const stems = new Map<string, number[]>()
  columns.forEach((name, index) => {
    const match = /^(.*?)\d+(?:_\d+)?$/.exec(name)
    if (match) stems.set(match[1]!, [...(stems.get(match[1]!) ?? []), index])
  })
  const best = [...stems.values()].sort((a, b) => b.length - a.length)[0]
  if (!best || best.length < 16) return undefined
  const side = Math.round(Math.sqrt(best.length))
  return side * side === best.length ? best : undefined
}

export function PreviewPanel({ preview, label_column }: { preview: Preview; label_column: string | undefined }) {
  const { t } = useText()
  const pixels = useMemo(() => pixel_columns(preview.columns), [preview.columns])
  const [view, set_view] = useState<'images' | 'table'>(pixels ? 'images' : 'table')
  const label = preview.columns.indexOf(label_column ?? '')
  const columns = useMemo(() => preview.columns.map((name, index): Column<string[]> => ({ id: String(index), head: name, cell: (row) => row[index] ?? '', right: /^-?[\d.]/.test(preview.rows[0]?.[index] ?? '') })), [preview])
  return (
    <Panel
      title={t('data.preview')}
      sub={t('data.preview.sub', { n: preview.rows.length, path: preview.path })}
      side={pixels && <Segments label={t('data.preview')} value={view} onChange={set_view} options={[['images', t('data.images')], ['table', t('data.table')]]} />}
      flush
    >
      {view === 'images' && pixels ? (
        <div className="imgs">
          {preview.rows.slice(0, 60).map((row, index) => (
            <Picture key={index} values={pixels.map((column) => Number(row[column]))} caption={label >= 0 ? (row[label] ?? '') : String(index + 1)} />
          ))}
        </div>
      ) : (
        <DataTable className="previewt" label={t('data.preview')} columns={columns} rows={preview.rows} row_key={(row) => String(preview.rows.indexOf(row))} />
      )}
    </Panel>
  )
}

function Picture({ values, caption }: { values: number[]; caption: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const side = Math.sqrt(values.length)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const most = Math.max(1e-9, ...values)
    const image = context.createImageData(side, side)
    values.forEach((value, index) => image.data.set([255 - (value / most) * 255, 255 - (value / most) * 255, 255 - (value / most) * 255, 255], index * 4))
    context.putImageData(image, 0, 0)
  }, [values, side])
  return (
    <figure>
      <canvas ref={canvas} width={side} height={side} role="img" aria-label={caption} />
      <figcaption>{caption}</figcaption>
    </figure>
  )
}
