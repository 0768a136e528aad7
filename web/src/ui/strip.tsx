// SPDX-License-Identifier: Apache-2.0
// The lineage strip that begins every detail page: what it was made of, what it became. At most six stops.
import { Fragment } from 'react'
import { Link } from 'wouter'
import { useText } from '../i18n'
import { Icon, type IconName } from './icon'

export interface Stop {
  icon: IconName
  name: string
  fact?: string
  to?: string
  me?: boolean
  missing?: boolean
}

export function LineageStrip({ stops }: { stops: Stop[] }) {
  const { t } = useText()
  return (
    <section className="panel strip" aria-label={t('lineage')} tabIndex={0}>
      {stops.slice(0, 6).map((stop, index) => {
        const body = (
          <>
            <span className="ic">
              <Icon name={stop.icon} />
            </span>
            <span>
              <b>{stop.name}</b>
              <span>{stop.fact ?? ''}</span>
            </span>
          </>
        )
        const kind = `nd ${stop.me ? 'me' : ''} ${stop.missing ? 'no' : ''}`
        return (
          <Fragment key={index}>
            {index > 0 && <span className={`ar ${stop.missing ? 'no' : ''}`} />}
            {stop.to && !stop.me ? (
              <Link className={kind} href={stop.to}>
                {body}
              </Link>
            ) : (
              <span className={kind} aria-current={stop.me ? 'true' : undefined}>
                {body}
              </span>
            )}
          </Fragment>
        )
      })}
    </section>
  )
}
