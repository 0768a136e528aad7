// SPDX-License-Identifier: Apache-2.0
// What stopped: cause with numbers, age, one action, one look. Numbered as the pieces on the belt.
import { Link } from 'wouter'
import type { LineStop } from '../../api/spine'
import { useBase, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { parse_ref, path_of_ref, short_ref } from '../../lib/url'
import { Glyph } from '../../ui/icon'
import { Copy, Time } from '../../ui/parts'

export function Stops({ stops }: { stops: LineStop[] }) {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  if (!stops.length) {
    return (
      <p className="calm row">
        <Glyph name="ok" /> {t('stops.none')}
      </p>
    )
  }
  return (
    <ul className="stops">
      {stops.map((stop, index) => {
        const to = path_of_ref(project, stop.subject) ?? base
        const { kind } = parse_ref(stop.subject)
        const why = `${base}/why/${stop.subject}`
        const title = stop.kind === 'approval' ? t('stop.approval', { name: short_ref(stop.subject) }) : stop.kind === 'failed' ? t('stop.failed', { name: short_ref(stop.subject) }) : t('stop.waiting', { name: short_ref(stop.subject) })
        return (
          <li key={stop.subject + stop.since_at}>
            <div className="hd">
              <span className="nbi">{index + 1}</span>
              <span className={`ell ${stop.kind === 'approval' ? 't-violet' : ''}`}>{title}</span>
              <Time at={stop.since_at} form="age" />
            </div>
            <p>{stop.text}</p>
            <div className="row">
              <Link className={`btn s ${stop.kind === 'approval' ? 'v' : ''}`} href={to}>
                {stop.kind === 'approval' ? t('stop.review') : kind === 'job' ? t('stop.open_job') : t('open')}
              </Link>
              <Link href={why}>{t('why')}</Link>
              {stop.action && <Copy text={stop.action} label={stop.action} />}
            </div>
          </li>
        )
      })}
    </ul>
  )
}
