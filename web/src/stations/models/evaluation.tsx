// SPDX-License-Identifier: Apache-2.0
// What was measured of this version beside production, or the version before: only values on the same data are
// compared, and green stands only where better is known. Under it the confusion matrix of its run.
import { useQuery } from '@tanstack/react-query'
import { model_evidence_query, type ModelEvidence, type ModelVersion } from '../../api/models'
import { artifact_url, artifacts_query, number_of } from '../../api/runs'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { judge } from '../../lib/metrics'
import { MatrixFile } from '../../preview/matrix_view'
import { is_matrix } from '../../preview/read'

export interface Measured {
  metric: string
  data: string
  value: number | null
  other: number | null | undefined
}

/** The newest value of each metric on each data version; those recorded at registration count where none was measured. */
export function values_of(version: ModelVersion | undefined, evidence: ModelEvidence | undefined): Map<string, { metric: string; data: string; value: number | null }> {
  const values = new Map<string, { metric: string; data: string; value: number | null }>()
  for (const item of evidence?.measurements ?? []) {
    const key = `${item.data ?? ''}\n${item.metric}`
    if (!values.has(key)) values.set(key, { metric: item.metric, data: item.data ?? '', value: number_of(item.value as number | string) })
  }
  const measured = new Set([...values.values()].map((item) => item.metric))
  for (const [metric, value] of Object.entries(version?.metrics ?? {})) if (!measured.has(metric)) values.set(`\n${metric}`, { metric, data: '', value })
  return values
}

export function rows_of(own: ReturnType<typeof values_of>, other: ReturnType<typeof values_of>): Measured[] {
  return [...own].map(([key, item]) => ({ ...item, other: other.get(key)?.value })).sort((a, b) => a.data.localeCompare(b.data) || a.metric.localeCompare(b.metric))
}

export function Evaluation({ version, against, is_production }: { version: ModelVersion; against: ModelVersion | undefined; is_production: boolean }) {
  const { t } = useText()
  const project = useProject()
  const own = useQuery(model_evidence_query(project, version.name, version.version))
  const other = useQuery({ ...model_evidence_query(project, version.name, against?.version ?? 0), enabled: against !== undefined })
  const rows = rows_of(values_of(version, own.data), values_of(against, other.data))
  return (
    <section className="panel" aria-label={t('model.evaluation')} id="evaluation" tabIndex={-1}>
      <div className="ph">
        <h2>{t('model.evaluation')}</h2>
        {against && <span className="f">{is_production ? t('model.against_production', { n: against.version }) : t('model.against', { n: against.version })}</span>}
      </div>
      <div className="pb">
        {rows.length === 0 ? <p className="f">{t('model.no_metrics')}</p> : <Table rows={rows} version={version} against={against} />}
        <RunMatrix version={version} />
      </div>
    </section>
  )
}

function Table({ rows, version, against }: { rows: Measured[]; version: ModelVersion; against: ModelVersion | undefined }) {
  const { t } = useText()
  const format = useFormat()
  const has_data = rows.some((row) => row.data)
  const signed = (value: number) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${format.metric(Math.abs(value))}`
  return (
    <div className="scroll">
      <table className="mt num" aria-label={t('model.evaluation')}>
        <thead>
          <tr>
            <th scope="col">{t('model.metric')}</th>
            {has_data && <th scope="col">{t('model.on_data')}</th>}
            <th scope="col" className="r">v{version.version}</th>
            {against && <th scope="col" className="r">v{against.version}</th>}
            {against && <th scope="col" className="r">{t('model.change')}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ metric, data, value, other }) => {
            const change = value !== null && typeof other === 'number' ? value - other : undefined
            const verdict = change === undefined ? 0 : judge(metric, value!, other as number)
            return (
              <tr key={`${data}/${metric}`}>
                <td>{metric}</td>
                {has_data && <td className="m">{data || '–'}</td>}
                <td className="r b">{format.metric(value)}</td>
                {against && <td className="r m">{format.metric(other)}</td>}
                {against && <td className={`r ${verdict > 0 ? 't-green' : verdict < 0 ? 't-red' : 'm'}`}>{change === undefined ? '–' : signed(change)}</td>}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function RunMatrix({ version }: { version: ModelVersion }) {
  const { t } = useText()
  const project = useProject()
  const run = version.run?.replace(/^run\//, '') ?? ''
  const files = useQuery({ ...artifacts_query(project, run, ''), enabled: run !== '', retry: false })
  const file = files.data?.find((item) => !item.is_folder && is_matrix(item.name))
  if (!file) return null
  return (
    <>
      <h3 className="cm-head">{t('model.confusion')}</h3>
      <MatrixFile url={artifact_url(project, run, file.path)} name={file.name} label={t('model.confusion')} />
    </>
  )
}
