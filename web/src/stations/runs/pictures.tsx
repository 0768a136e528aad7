// SPDX-License-Identifier: Apache-2.0
// What runs left behind, side by side: confusion matrices, and pictures in a grid with a row per name and a column per
// run. Pictures that were logged at several steps have a slider.
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { artifact_url, artifacts_query, type Artifact, type Run } from '../../api/runs'
import { useProject } from '../../app/context'
import { useNear } from '../../charts/near'
import { useText } from '../../i18n'
import type { Look } from '../../lib/metrics'
import { MatrixFile } from '../../preview/matrix_view'
import { image_bytes_most, is_matrix, kind_of } from '../../preview/read'
import { Skeleton } from '../../ui/states'
import { RunWord } from './run_word'
import { pictures_of, step_at, steps_of, type PictureRow } from './picture_model'

const folders_looked_in = /image|plot|figure|picture|sample|media|eval|metric|report|confusion/i
const rows_shown = 40

/** Files at the root of each run and in the folders whose names promise pictures or reports. */
function useFiles(runs: Run[]): { files: Map<string, Artifact[]>; is_ready: boolean } {
  const project = useProject()
  const roots = useQueries({ queries: runs.map((run) => artifacts_query(project, run.id, '')) })
  const folders = runs.flatMap((run, index) => (roots[index]?.data ?? []).filter((item) => item.is_folder && folders_looked_in.test(item.name)).slice(0, 4).map((item) => ({ run: run.id, path: item.path })))
  const inner = useQueries({ queries: folders.map(({ run, path }) => artifacts_query(project, run, path)) })
  const files = new Map(runs.map((run, index): [string, Artifact[]] => [run.id, [...(roots[index]?.data ?? []), ...folders.flatMap((folder, at) => (folder.run === run.id ? (inner[at]?.data ?? []) : []))].filter((item) => !item.is_folder)]))
  return { files, is_ready: [...roots, ...inner].every((query) => !query.isPending) }
}

export function MatrixCompare({ runs, looks }: { runs: Run[]; looks: Map<string, Look> }) {
  const { t } = useText()
  const project = useProject()
  const { files, is_ready } = useFiles(runs)
  const found = runs.flatMap((run) => (files.get(run.id) ?? []).filter((item) => is_matrix(item.name)).map((item) => ({ run, item })))
  if (!is_ready) return <Skeleton rows={4} />
  if (!found.length) return <p className="f">{t('compare.no_matrix')}</p>
  return (
    <div className="cm-grid">
      {found.map(({ run, item }) => (
        <div key={run.id + item.path}>
          <RunWord run={run} look={looks.get(run.id)} note={item.path} />
          <MatrixFile url={artifact_url(project, run.id, item.path)} name={item.name} label={`${run.name} ${item.path}`} />
        </div>
      ))}
    </div>
  )
}

export function PictureCompare({ runs, looks }: { runs: Run[]; looks: Map<string, Look> }) {
  const { t } = useText()
  const { files, is_ready } = useFiles(runs)
  const rows = pictures_of(files, (path) => kind_of(path) === 'image')
  const steps = steps_of(rows)
  const [at, set_at] = useState<number>()
  const index = at ?? steps.length - 1
  if (!is_ready) return <Skeleton rows={4} />
  if (!rows.length) return <p className="f">{t('compare.no_pictures')}</p>
  return (
    <>
      {steps.length > 1 && (
        <label className="ctl pic-step">
          {t('compare.step')}
          <input type="range" min={0} max={steps.length - 1} value={index} onChange={(event) => set_at(Number(event.target.value))} />
          <span className="num">{steps[index]}</span>
        </label>
      )}
      <div className="scroll" tabIndex={0} role="region" aria-label={t('compare.tab.pictures')}>
        <table className="pics" aria-label={t('compare.tab.pictures')}>
          <thead><tr><th scope="col"><span className="sr">{t('name')}</span></th>{runs.map((run) => <th key={run.id} scope="col"><RunWord run={run} look={looks.get(run.id)} /></th>)}</tr></thead>
          <tbody>
            {rows.slice(0, rows_shown).map((row) => (
              <tr key={row.name}>
                <th scope="row" className="mono" title={row.name}>{row.name}</th>
                {runs.map((run) => <td key={run.id}><PictureCell row={row} run={run} step={steps[index]} /></td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > rows_shown && <p className="f">{t('and_more', { n: rows.length - rows_shown })}</p>}
    </>
  )
}

function PictureCell({ row, run, step }: { row: PictureRow; run: Run; step: number | undefined }) {
  const project = useProject()
  const { t } = useText()
  const [box, set_box] = useState<HTMLSpanElement | null>(null)
  const near = useNear(box)
  const picture = step_at(row.runs.get(run.id) ?? [], step)
  if (!picture) return <span className="f">–</span>
  const too_large = (picture.size_bytes ?? 0) > image_bytes_most
  return (
    <span ref={set_box} className="pic">
      {near && (too_large ? <span className="f">{t('preview.large')}</span> : <a href={artifact_url(project, run.id, picture.path)} download><img src={artifact_url(project, run.id, picture.path)} alt={`${row.name}, ${run.name}`} /></a>)}
      {picture.step !== undefined && picture.step !== step && <span className="f">{t('run.at_step', { n: picture.step })}</span>}
    </span>
  )
}
