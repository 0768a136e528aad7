// SPDX-License-Identifier: Apache-2.0
// Pictures of runs by name: mlflow.log_image writes name, step and time into the file's name, others stand as they are.
import type { Artifact } from '../../api/runs'

export interface Picture {
  path: string
  size_bytes: number | undefined
  step: number | undefined
}

export interface PictureRow {
  name: string
  runs: Map<string, Picture[]>
}

/** images/KEY%step%N%timestamp%T%ID.png, with + in place of % in later versions, and a smaller copy beside it. */
const logged = /([^/]+?)[%+]step[%+](\d+)[%+]timestamp[%+](\d+)[%+][^/]*$/

export function pictures_of(files: Map<string, Artifact[]>, is_picture: (path: string) => boolean): PictureRow[] {
  const rows = new Map<string, PictureRow>()
  for (const [run, items] of files) {
    for (const item of smaller_only(items.filter((file) => is_picture(file.path)))) {
      const found = logged.exec(item.path)
      const name = found ? found[1]!.replaceAll('#', '/') : item.path
      const row = rows.get(name) ?? { name, runs: new Map<string, Picture[]>() }
      rows.set(name, row)
      row.runs.set(run, [...(row.runs.get(run) ?? []), { path: item.path, size_bytes: item.size_bytes, step: found ? Number(found[2]) : undefined }])
    }
  }
  return [...rows.values()].sort((a, b) => b.runs.size - a.runs.size || a.name.localeCompare(b.name))
}

/** Of a picture and its compressed copy the copy is enough. */
function smaller_only(items: Artifact[]): Artifact[] {
  const copies = new Set(items.filter((item) => /[%+]compressed\.\w+$/.test(item.path)).map((item) => item.path.replace(/[%+]compressed\.\w+$/, '')))
  return items.filter((item) => !copies.has(item.path.replace(/\.\w+$/, '')))
}

export function steps_of(rows: PictureRow[]): number[] {
  const steps = rows.flatMap((row) => [...row.runs.values()].flat().flatMap((picture) => picture.step ?? []))
  return [...new Set(steps)].sort((a, b) => a - b)
}

/** The last picture up to a step; the first one if all are later. */
export function step_at(pictures: Picture[], step: number | undefined): Picture | undefined {
  const sorted = [...pictures].sort((a, b) => (a.step ?? 0) - (b.step ?? 0))
  return step === undefined ? sorted[sorted.length - 1] : (sorted.filter((picture) => (picture.step ?? 0) <= step).pop() ?? sorted[0])
}
