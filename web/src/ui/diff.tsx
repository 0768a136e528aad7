// SPDX-License-Identifier: Apache-2.0
// A unified diff with + and − in a gutter besides colour.
import './diff.css'

const lines_most = 400

export interface DiffLine {
  kind: 'add' | 'rem' | 'hunk' | 'same'
  text: string
}

/** The lines of a unified diff without its file heads. */
export function diff_lines(diff: string): DiffLine[] {
  const lines = diff.replace(/\n$/, '').split('\n')
  const from = lines.findIndex((line) => line.startsWith('@@'))
  return lines.slice(Math.max(0, from)).map((line): DiffLine => {
    if (line.startsWith('@@')) return { kind: 'hunk', text: line }
    if (line.startsWith('+')) return { kind: 'add', text: line.slice(1) }
    if (line.startsWith('-')) return { kind: 'rem', text: line.slice(1) }
    return { kind: 'same', text: line.startsWith(' ') ? line.slice(1) : line }
  })
}

const sign_of = { add: '+', rem: '−', hunk: '', same: '' }

export function UnifiedDiff({ diff, label }: { diff: string; label: string }) {
  return (
    <div className="udiff mono" lang="en" tabIndex={0} role="region" aria-label={label}>
      {diff_lines(diff).slice(0, lines_most).map((line, index) => (
        <div key={index} className={line.kind}><i>{sign_of[line.kind]}</i><span>{line.text || ' '}</span></div>
      ))}
    </div>
  )
}
