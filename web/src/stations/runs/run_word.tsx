// SPDX-License-Identifier: Apache-2.0
// A run's name with the colour it is drawn in.
import type { Run } from '../../api/runs'
import type { Look } from '../../lib/metrics'

export function RunWord({ run, look, note }: { run: Run; look: Look | undefined; note?: string }) {
  return (
    <p className="row run-word">
      <i className={`key ${look?.dash ? 'd' : ''}`} style={look?.dash ? { borderColor: `var(${look.color})` } : { background: look && `var(${look.color})` }} />
      <b className="ell">{run.name || run.id.slice(0, 8)}</b>
      {note && <span className="f mono ell">{note}</span>}
    </p>
  )
}
