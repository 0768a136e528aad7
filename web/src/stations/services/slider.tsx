// SPDX-License-Identifier: Apache-2.0
// The traffic slider. Nothing moves until the Shift button: the pending stretch is hatched, a locked one says why.
import { useRef } from 'react'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { Icon } from '../../ui/icon'
import { next_stop, place_of_share, share_at_place, stops } from './shares'

export function TrafficSlider({ now, pending, revision, lock, onChange, onEnter }: {
  now: number
  pending: number
  revision: number
  lock: string | undefined
  onChange: (share: number) => void
  onEnter: () => void
}) {
  const { t } = useText()
  const format = useFormat()
  const track = useRef<HTMLDivElement>(null)
  const percent = (share: number) => `${format.number(share, 1)}%`
  const left = (share: number) => `${place_of_share(share) * 100}%`
  const take = (clientX: number) => {
    const box = track.current?.getBoundingClientRect()
    if (box && !lock) onChange(share_at_place((clientX - box.left) / box.width))
  }
  const low = Math.min(now, pending)
  const high = Math.max(now, pending)
  const changed = pending !== now
  return (
    <div
      ref={track}
      className={`sl ${lock ? 'locked' : ''}`}
      role="slider"
      tabIndex={0}
      id="traffic-slider"
      aria-label={t('traffic.share_of', { revision: `r${revision}` })}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={pending}
      aria-valuetext={changed ? t('traffic.value', { now: percent(now), next: percent(pending) }) : percent(pending)}
      aria-disabled={lock ? true : undefined}
      title={lock}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        take(event.clientX)
      }}
      onPointerMove={(event) => {
        if (event.buttons) take(event.clientX)
      }}
      onKeyDown={(event) => {
        if (lock) return
        const moves: Record<string, () => number> = {
          ArrowRight: () => next_stop(pending, 1), ArrowUp: () => Math.min(100, pending + 1),
          ArrowLeft: () => next_stop(pending, -1), ArrowDown: () => Math.max(0, pending - 1), Home: () => 0, End: () => 100,
        }
        const move = moves[event.key]
        if (move) {
          event.preventDefault()
          onChange(move())
        }
        if (event.key === 'Enter') onEnter()
      }}
    >
      <span className="tr" />
      {lock && <span className="lk" />}
      <span className="fl" style={{ width: left(low) }} />
      {changed && <span className="pn" style={{ left: left(low), width: `${(place_of_share(high) - place_of_share(low)) * 100}%` }} />}
      <i className="nowm" style={{ left: left(now) }} />
      <span className={`lb now ${changed && Math.abs(place_of_share(now) - place_of_share(pending)) < 0.12 ? 'gone' : ''}`} style={{ left: left(now) }}>{t('traffic.now', { share: percent(now) })}</span>
      {!lock && <span className="hd" style={{ left: left(pending) }} />}
      {changed && <span className="lb t-blue" style={{ left: left(pending) }}>{t('traffic.new', { share: percent(pending) })}</span>}
      {lock && <span className="lb lock"><Icon name="lock" size={13} /> {t('traffic.locked')}</span>}
      {stops.map((stop) => (
        <span key={stop} className="tk" style={{ left: left(stop) }}>{stop}%</span>
      ))}
    </div>
  )
}
