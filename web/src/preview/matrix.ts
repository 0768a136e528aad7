// SPDX-License-Identifier: Apache-2.0
// Confusion matrices as artifacts, in the shapes of docs/formats/confusion-matrix.md: true classes by row, predicted
// ones by column.
import { parse_csv, table_of_json } from './csv'

export interface Matrix {
  labels: string[]
  /** counts[true][predicted] */
  counts: number[][]
}

const labels_most = 60

/** Undefined when the text is no square matrix of numbers. */
export function parse_matrix(name: string, text: string): Matrix | undefined {
  if (/\.csv$/i.test(name)) return matrix_of_rows(parse_csv(text))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (Array.isArray(value) && value.every(Array.isArray)) return checked(value.map((_, index) => String(index)), value as unknown[][])
  const named = value as { labels?: unknown; matrix?: unknown } | null
  if (named && Array.isArray(named.matrix) && named.matrix.every(Array.isArray)) {
    const counts = named.matrix as unknown[][]
    return checked(Array.isArray(named.labels) ? named.labels.map(String) : counts.map((_, index) => String(index)), counts)
  }
  const table = table_of_json(value)
  return table && matrix_of_rows(table)
}

/** With or without a first column of labels. */
function matrix_of_rows([head, ...rows]: string[][]): Matrix | undefined {
  if (!head) return undefined
  if (head.length === rows.length + 1) return checked(head.slice(1), rows.map((row) => row.slice(1)))
  return checked(head, rows)
}

function checked(labels: string[], counts: unknown[][]): Matrix | undefined {
  const numbers = counts.map((row) => row.map(Number))
  const is_square = labels.length === numbers.length && labels.length > 0 && labels.length <= labels_most
  return is_square && numbers.every((row) => row.length === labels.length && row.every((count) => Number.isFinite(count) && count >= 0)) ? { labels, counts: numbers } : undefined
}

/** What fraction is right. */
export function accuracy_of({ counts }: Matrix): number {
  const all = counts.flat().reduce((sum, count) => sum + count, 0)
  return all ? counts.reduce((sum, row, index) => sum + row[index]!, 0) / all : 0
}
