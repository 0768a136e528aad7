// SPDX-License-Identifier: Apache-2.0
// The Line: in five seconds, whether data reaches traffic, what holds it, and whose turn it is.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { line_query, type LineStop } from '../../api/spine'
import { useBase, usePage, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { path_of_ref, useParams_of_url, one_of } from '../../lib/url'
import { Head, Segments } from '../../ui/parts'
import { Empty, Failure, Skeleton } from '../../ui/states'
import { Belt } from './belt'
import { Beat } from './beat'
import { HandOvers } from './hand_overs'
import { ServicePanel } from './service_panel'
import { Stops } from './stops'
import './line.css'

const ranges = ['24h', '1h', '7d'] as const

export default function LinePage() {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const [, navigate] = useLocation()
  const [params, set_params] = useParams_of_url()
  const since = one_of(params.get('since'), ranges)
  const line = useQuery(line_query(project, since))
  const stops = line.data?.stops ?? []
  const numbered = stops.slice(0, 9)
  usePage({
    title: t('line.title'),
    command: { cli: `takt line --since ${since}`, route: `/api/v1/line?since=${since}` },
    actions: numbered.map((stop) => ({ name: stop.text, command: stop.action, run: () => navigate(path_of_ref(project, stop.subject) ?? base) })),
    keys: {
      ...Object.fromEntries(numbered.map((stop, index) => [String(index + 1), () => navigate(path_of_ref(project, stop.subject) ?? base)])),
      h: () => move_station(-1),
      l: () => move_station(1),
    },
  })
  return (
    <div className="page page-line">
      <Head title={t('line.title')} sub={line.data && <Sentence stops={stops} moving={line.data.cards.some((card) => card.total > 0)} />}>
        <Segments label={t('range')} value={since} onChange={(value) => set_params({ since: value === '24h' ? null : value }, true)} options={[['1h', t('range.1h')], ['24h', t('range.24h')], ['7d', t('range.7d')]]} />
      </Head>
      {line.isError && !line.data ? (
        <section className="panel"><Failure what={t('line.error')} error={line.error} retry={() => void line.refetch()} /></section>
      ) : !line.data ? (
        <section className="panel"><Skeleton rows={7} /></section>
      ) : (
        <>
          <section className="panel lp" aria-label={t('line.belt')}>
            <Belt line={line.data} stops={stops} />
            {line.data.cards.every((card) => card.total <= 0) ? (
              <Empty title={t('line.empty')} text={t('line.empty.text')} command="takt pipeline run examples/digits/pipeline.yaml" />
            ) : (
              <StopsWithMore stops={stops} />
            )}
          </section>
          <div className="two">
            <HandOvers line={line.data} />
            <div className="stack-12">
              <Beat since={since} />
              <ServicePanel />
            </div>
          </div>
        </>
      )}
    </div>
  )
}

/** At most three stand on the page; a person's turn and what broke come first from the server. */
function StopsWithMore({ stops }: { stops: LineStop[] }) {
  const { t } = useText()
  const [all, set_all] = useState(false)
  useEffect(() => {
    if (stops.length <= 3) set_all(false)
  }, [stops.length])
  return (
    <>
      <Stops stops={all ? stops : stops.slice(0, 3)} />
      {stops.length > 3 && (
        <button type="button" className="linkish more-stops" onClick={() => set_all(!all)}>
          {all ? t('show_fewer') : t('stops.more', { n: stops.length - 3 })}
        </button>
      )}
    </>
  )
}

function Sentence({ stops, moving }: { stops: LineStop[]; moving: boolean }) {
  const { t } = useText()
  const turn = stops.filter((stop) => stop.kind === 'approval').length
  if (!moving) return <>{t('line.sentence.empty')}</>
  if (!stops.length) return <>{t('line.sentence.clear')}</>
  return <>{turn > 0 ? t('line.sentence.with_turn', { n: stops.length, turn }) : t('line.sentence', { n: stops.length })}</>
}

function move_station(step: number): void {
  const cards = [...document.querySelectorAll<HTMLElement>('.stn')]
  const here = cards.indexOf(document.activeElement as HTMLElement)
  cards[Math.max(0, Math.min(cards.length - 1, here < 0 ? 0 : here + step))]?.focus()
}

