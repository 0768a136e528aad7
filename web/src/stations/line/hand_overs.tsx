// SPDX-License-Identifier: Apache-2.0
// The newest hand-overs: time, stations, what became what, by whom.
import { Link } from 'wouter'
import type { LineView } from '../../api/spine'
import { useBase, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { hand_over_station, is_failure, useEventSentence } from '../../lib/events'
import { path_of_ref } from '../../lib/url'
import { Glyph, Icon, icon_of } from '../../ui/icon'
import { Time } from '../../ui/parts'

export function HandOvers({ line }: { line: LineView }) {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const sentence = useEventSentence()
  const count = line.beats.reduce((sum, beat) => sum + beat.per_hour.reduce((all, value) => all + value, 0), 0)
  return (
    <section className="panel" aria-labelledby="hand-overs">
      <div className="ph">
        <h2 id="hand-overs">{t('hand_overs')}</h2>
        <span className="f">{t('hand_overs.sub', { n: count })}</span>
        <span className="side"><Link href={`${base}/events`}>{t('events.all')}</Link></span>
      </div>
      <div className="scroll">
        <table className="ho">
          <tbody>
            {line.hand_overs.map((event) => {
              const to = path_of_ref(project, event.subject)
              const body = sentence(event)
              const station = hand_over_station(event) ?? ''
              return (
                <tr key={event.sequence}>
                  <td className="mono f num"><Time at={event.time_at} form="clock" /></td>
                  <td className="hopc"><span className="hop"><Icon name={icon_of(station)} size={15} /></span></td>
                  <td className="clip">
                    {is_failure(event) && <span className="inl"><Glyph name="bad" size={14} label={t('state.failed')} /></span>}
                    {to ? <Link href={to} className="ink">{body}</Link> : body}
                  </td>
                  <td className="f r">{event.actor}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
        {line.hand_overs.length === 0 && <p className="f blk">{t('hand_overs.none')}</p>}
      </div>
    </section>
  )
}
