// SPDX-License-Identifier: Apache-2.0
// Rows of a CSV or TSV text: quoted cells, doubled quotes, line breaks inside quotes.

export function parse_csv(text: string, separator = ',', rows_most = Infinity): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  const end_row = () => {
    row.push(cell)
    cell = ''
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  for (let index = 0; index < text.length && rows.length < rows_most; index++) {
    const letter = text[index]!
    if (quoted) {
      if (letter !== '"') cell += letter
      else if (text[index + 1] === '"') cell += text[++index]
      else quoted = false
    } else if (letter === '"' && cell === '') quoted = true
    else if (letter === separator) {
      row.push(cell)
      cell = ''
    } else if (letter === '\n') end_row()
    else if (letter !== '\r') cell += letter
  }
  if ((cell !== '' || row.length) && rows.length < rows_most) end_row()
  return rows
}

/** A table written as JSON: rows of objects, or columns with rows of values (as pandas and mlflow.log_table write it). */
export function table_of_json(value: unknown): string[][] | undefined {
  if (is_split(value)) return [value.columns.map(String), ...value.data.map((row) => row.map(text_of))]
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => item !== null && typeof item === 'object' && !Array.isArray(item))) return undefined
  const rows = value as Record<string, unknown>[]
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return [columns, ...rows.map((row) => columns.map((column) => text_of(row[column])))]
}

function is_split(value: unknown): value is { columns: unknown[]; data: unknown[][] } {
  const table = value as { columns?: unknown; data?: unknown } | null
  return typeof table === 'object' && table !== null && Array.isArray(table.columns) && Array.isArray(table.data) && table.data.every(Array.isArray)
}

function text_of(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
