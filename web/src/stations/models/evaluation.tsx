// SPDX-License-Identifier: Apache-2.0
// The recorded evaluation against production, or against the version before: green only where better is known.
import type { ModelVersion } from '../../api/models'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { judge } from '../../lib/metrics'

export function Evaluation({ version, against, is_production }: { version: ModelVersion; against: ModelVersion | undefined; is_production: boolean }) {
  const { t } = useText()
  const format = useFormat()
  const names = [...new Set([...Object.keys(version.metrics), ...Object.keys(against?.metrics ?? {})])].sort()
  const signed = (value: number) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${format.metric(Math.abs(value))}`
  return (
    <section className="panel" aria-label={t('model.evaluation')} id="evaluation" tabIndex={-1}>
      <div className="ph">
        <h2>{t('model.evaluation')}</h2>
        {against && <span className="f">{is_production ? t('model.against_production', { n: against.version }) : t('model.against', { n: against.version })}</span>}
      </div>
      <div className="pb">
        {names.length === 0 ? (
          <p className="f">{t('model.no_metrics')}</p>
        ) : (
          <table className="mt num" aria-label={t('model.evaluation')}>
            <thead>
              <tr>
                <th scope="col">{t('model.metric')}</th>
                <th scope="col" className="r">v{version.version}</th>
                {against && <th scope="col" className="r">v{against.version}</th>}
                {against && <th scope="col" className="r">{t('model.change')}</th>}
              </tr>
            </thead>
            <tbody>
              {names.map((name) => {
                const value = version.metrics[name]
                const other = against?.metrics[name]
                const verdict = value !== undefined && other !== undefined ? judge(name, value, other) : 0
                return (
                  <tr key={name}>
                    <td>{name}</td>
                    <td className="r b">{format.metric(value)}</td>
                    {against && <td className="r m">{format.metric(other)}</td>}
                    {against && <td className={`r ${verdict > 0 ? 't-green' : verdict < 0 ? 't-red' : 'm'}`}>{value !== undefined && other !== undefined ? signed(value - other) : '–'}</td>}
                  </tr>
                )
              })}
            </tbody>
          </table>
        )}
      </div>
    </section>
  )
}
