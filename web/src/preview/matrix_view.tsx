// SPDX-License-Identifier: Apache-2.0
// A confusion matrix: counts in cells, right ones green, wrong ones outlined.
import { useMemo } from 'react'
import { useText } from '../i18n'
import { useFormat } from '../lib/format'
import { Skeleton } from '../ui/states'
import { accuracy_of, parse_matrix, type Matrix } from './matrix'
import { useHead } from './read'
import './preview.css'

const large_from = 16

export function MatrixView({ matrix, label }: { matrix: Matrix; label: string }) {
  const { t } = useText()
  const format = useFormat()
  const { labels, counts } = matrix
  return (
    <figure className="cmx">
      <div className="scroll" tabIndex={0} role="region" aria-label={label}>
        <table className={labels.length >= large_from ? 'tight' : ''} aria-label={label}>
          <thead>
            <tr>
              <th scope="col"><span className="sr">{t('preview.true')}</span></th>
              {labels.map((name) => <th key={name} scope="col" title={t('preview.predicted', { name })}>{name}</th>)}
            </tr>
          </thead>
          <tbody>
            {counts.map((row, index) => <MatrixRow key={labels[index]} labels={labels} row={row} index={index} />)}
          </tbody>
        </table>
      </div>
      <figcaption className="f">{t('preview.matrix', { accuracy: format.metric(accuracy_of(matrix)) })}</figcaption>
    </figure>
  )
}

function MatrixRow({ labels, row, index }: { labels: string[]; row: number[]; index: number }) {
  const { t } = useText()
  const all = row.reduce((sum, count) => sum + count, 0)
  return (
    <tr>
      <th scope="row">{labels[index]}</th>
      {row.map((count, other) => {
        const share = all ? count / all : 0
        const tone = count === 0 ? '' : other === index ? (share >= 0.5 ? 'right' : 'part') : 'wrong'
        return <td key={other} className={tone} title={t('preview.cell', { from: labels[index]!, to: labels[other]!, n: count })}>{count === 0 ? '' : count}</td>
      })}
    </tr>
  )
}

/** The matrix that an artifact holds. */
export function MatrixFile({ url, name, label }: { url: string; name: string; label: string }) {
  const { t } = useText()
  const head = useHead(url)
  const matrix = useMemo(() => (head.data && !head.data.is_cut ? parse_matrix(name, head.data.text) : undefined), [head.data])
  if (head.isPending) return <Skeleton rows={3} />
  return matrix ? <MatrixView matrix={matrix} label={label} /> : <p className="t-red">{head.error?.message ?? t('preview.no_matrix')}</p>
}
