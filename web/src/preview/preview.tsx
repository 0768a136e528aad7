// SPDX-License-Identifier: Apache-2.0
// A look at one artifact. Whatever a file holds, it is drawn as elements of this page: no HTML or script of it runs.
import { useState, type ReactNode } from 'react'
import { useText } from '../i18n'
import { useFormat } from '../lib/format'
import { Button } from '../ui/parts'
import { Loaded } from '../ui/states'
import { parse_csv, table_of_json } from './csv'
import { JsonTree } from './json_tree'
import { Markdown } from './markdown'
import { parse_matrix } from './matrix'
import { MatrixView } from './matrix_view'
import { image_bytes_most, kind_of, text_bytes_most, useHead, type Head } from './read'
import './preview.css'

const rows_most = 200
const columns_most = 60

export interface PreviewFile {
  path: string
  name: string
  size_bytes?: number
  url: string
  /** The address of another file, by its path from the run's root. */
  url_of: (path: string) => string
}

export function Preview({ file }: { file: PreviewFile }) {
  const { t } = useText()
  const kind = kind_of(file.path)
  const head = useHead(file.url, kind !== 'image' && kind !== 'none')
  if (kind === 'image') return <Picture file={file} />
  if (kind === 'none') return <p className="f">{t('run.artifacts.no_preview')}</p>
  return (
    <Loaded query={head} what={file.name}>
      {(body) => (
        <>
          {view_of(file, body)}
          {body.is_cut && <Cut file={file} />}
        </>
      )}
    </Loaded>
  )
}

function view_of(file: PreviewFile, { text, is_cut }: Head): ReactNode {
  const kind = kind_of(file.path)
  const plain = <pre className="code" lang="en" tabIndex={0}>{text}</pre>
  if (kind === 'matrix' && !is_cut) {
    const matrix = parse_matrix(file.name, text)
    if (matrix) return <MatrixView matrix={matrix} label={file.name} />
  }
  if (/\.(csv|tsv)$/i.test(file.name)) return <TableView rows={parse_csv(is_cut ? text.slice(0, text.lastIndexOf('\n')) : text, /\.tsv$/i.test(file.name) ? '\t' : ',', rows_most + 2)} label={file.name} />
  if (kind === 'markdown') return <Markdown text={text} image={(path) => beside(file, path)} />
  if ((kind === 'json' || kind === 'matrix') && !is_cut) {
    try {
      const value: unknown = JSON.parse(text)
      const table = table_of_json(value)
      return table ? <TableView rows={table} label={file.name} /> : <JsonTree value={value} />
    } catch {
      return plain
    }
  }
  return plain
}

/** A path relative to the file, unless it leads out of the run. */
export function path_beside(file: string, path: string): string | undefined {
  const parts = file.split('/').slice(0, -1)
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

function beside(file: PreviewFile, path: string): string | undefined {
  const other = path_beside(file.path, path)
  return other !== undefined && kind_of(other) === 'image' ? file.url_of(other) : undefined
}

function Cut({ file }: { file: PreviewFile }) {
  const { t } = useText()
  const format = useFormat()
  return <p className="f">{t('preview.cut', { part: format.bytes(text_bytes_most), all: format.bytes(file.size_bytes ?? 0) })}</p>
}

export function TableView({ rows, label }: { rows: string[][]; label: string }) {
  const { t } = useText()
  const [head = [], ...body] = rows
  const shown = body.slice(0, rows_most)
  return (
    <>
      <div className="scroll pv-table" tabIndex={0} role="region" aria-label={label}>
        <table aria-label={label}>
          <thead><tr>{head.slice(0, columns_most).map((cell, index) => <th key={index} scope="col">{cell}</th>)}</tr></thead>
          <tbody>{shown.map((row, index) => <tr key={index}>{row.slice(0, columns_most).map((cell, column) => <td key={column} className="num" title={cell.length > 60 ? cell : undefined}>{cell}</td>)}</tr>)}</tbody>
        </table>
      </div>
      {(body.length > rows_most || head.length > columns_most) && <p className="f">{t('preview.part', { rows: shown.length, columns: Math.min(head.length, columns_most) })}</p>}
    </>
  )
}

function Picture({ file }: { file: PreviewFile }) {
  const { t } = useText()
  const format = useFormat()
  const [wanted, set_wanted] = useState((file.size_bytes ?? 0) <= image_bytes_most)
  const [broken, set_broken] = useState(false)
  if (!wanted) return <p><Button small onClick={() => set_wanted(true)}>{t('preview.load', { size: format.bytes(file.size_bytes ?? 0) })}</Button></p>
  if (broken) return <p className="t-red">{t('preview.broken', { name: file.name })}</p>
  return <img className="art-img" src={file.url} alt={file.name} onError={() => set_broken(true)} />
}
