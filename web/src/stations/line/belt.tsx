// SPDX-License-Identifier: Apache-2.0
// The belt: stations above it, real things on it, what fell off below it, and under it the lead-time ladder.
import { Link } from 'wouter'
import { station_of_ref, type LineCard, type LineStop, type LineView } from '../../api/spine'
import { useBase, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { parse_ref, path_of_ref } from '../../lib/url'
import { Glyph, Icon, icon_of, type GlyphName } from '../../ui/icon'
import { Bars } from '../../ui/parts'
import { useCardText } from './card_lines'
import { Ladder } from './ladder'
import { LiveTraffic, Tracks } from './traffic'

/** Grid columns of the stations; the gaps between them are even. */
const column_of: Record<string, number> = { data: 1, jobs: 3, runs: 5, models: 7, services: 9 }
const stations = ['data', 'jobs', 'runs', 'models', 'services'] as const
const pieces_most = 3

export interface Piece {
  refs: string[]
  column: number
  off: boolean
  glyph: GlyphName
  number?: number
  title: string
}

/** Where everything stands: being worked on at a station, waiting in the gap before one, or fallen off below. */
export function pieces_of(cards: LineCard[], stops: LineStop[]): Piece[] {
  const pieces: Piece[] = []
  const stopped = new Set(stops.map((stop) => stop.subject))
  stops.forEach((stop, index) => {
    const station = station_of_ref(stop.subject) ?? 'jobs'
    const at = column_of[station === 'pipelines' ? (stop.kind === 'approval' ? 'services' : 'jobs') : station] ?? 3
    const column = stop.kind === 'failed' ? at : Math.max(2, at - 1)
    const glyph = stop.kind === 'approval' ? 'person' : stop.kind === 'failed' ? 'bad' : 'wait'
    const same = pieces.find((piece) => piece.column === column && piece.glyph === glyph)
    if (same) same.refs.push(stop.subject)
    else pieces.push({ refs: [stop.subject], column, off: stop.kind === 'failed', glyph, number: index + 1, title: stop.text })
  })
  for (const card of cards) {
    const column = column_of[card.station]
    if (column === undefined || card.station === 'services' || card.moving <= 0) continue
    const moving = card.pieces.filter((ref) => !stopped.has(ref)).slice(0, card.moving)
    moving.slice(0, moving.length > pieces_most ? pieces_most - 1 : pieces_most).forEach((ref) => pieces.push({ refs: [ref], column, off: false, glyph: 'run', title: ref }))
    if (moving.length > pieces_most) pieces.push({ refs: moving.slice(pieces_most - 1), column, off: false, glyph: 'run', title: moving.join(', ') })
  }
  return pieces
}

export function Belt({ line, stops }: { line: LineView; stops: LineStop[] }) {
  const project = useProject()
  const base = useBase()
  const { t } = useText()
  const pieces = pieces_of(line.cards, stops)
  const at = (column: number, off: boolean) => pieces.filter((piece) => piece.column === column && piece.off === off)
  const beats = new Map(line.beats.map((beat) => [beat.station, beat.per_hour]))
  const draw = (piece: Piece) => <PieceOf key={piece.refs.join()} piece={piece} to={piece.refs.length > 1 ? `${base}/${station_of_ref(piece.refs[0]!) ?? 'jobs'}` : (path_of_ref(project, piece.refs[0]!) ?? base)} />
  return (
    <div className="lg">
      {stations.map((station) => (
        <Station key={station} station={station} card={line.cards.find((card) => card.station === station)} beat={beats.get(station) ?? []} />
      ))}
      <LiveTraffic />
      <div className="belt" aria-hidden="true">
        <svg>
          <defs>
            <pattern id="chev" width="24" height="32" patternUnits="userSpaceOnUse">
              <path d="M9 11l5 5-5 5" fill="none" stroke="var(--line-strong)" strokeWidth="1.5" opacity=".55" strokeLinecap="round" strokeLinejoin="round" />
            </pattern>
          </defs>
          <rect width="100%" height="32" fill="url(#chev)" />
        </svg>
      </div>
      {[1, 2, 3, 4, 5, 6, 7, 8, 9].map((column) => (
        <div key={column} className="bc" style={{ gridColumn: column }}>
          {at(column, false).map(draw)}
        </div>
      ))}
      <Tracks />
      {[1, 3, 5, 7, 9].map((column) => (
        <div key={column} className="off" style={{ gridColumn: column }} title={at(column, true).length ? t('line.fell_off') : undefined}>
          {at(column, true).map(draw)}
        </div>
      ))}
      <Ladder />
    </div>
  )
}

function PieceOf({ piece, to }: { piece: Piece; to: string }) {
  const tone = piece.glyph === 'bad' ? 'red' : piece.glyph === 'person' ? 'violet' : ''
  const { name, version, kind } = parse_ref(piece.refs[0]!)
  const parts = name.split('/')
  const word = piece.refs.length > 1 ? `×${piece.refs.length}` : version ? `v${version}` : kind === 'run' ? name.slice(0, 6) : (parts[parts.length - 1] ?? name)
  return (
    <Link href={to} className={`pc ${tone} ${piece.refs.length > 1 ? 'stk' : ''}`} title={piece.title}>
      {piece.number !== undefined && <span className="nb">{piece.number}</span>}
      <Glyph name={piece.glyph} size={14} />
      {word}
    </Link>
  )
}

function Station({ station, card, beat }: { station: (typeof stations)[number]; card: LineCard | undefined; beat: number[] }) {
  const { t } = useText()
  const base = useBase()
  const text = useCardText(station, card)
  const word = text.is_moving ? (`line.moving.${station}` as const) : (`line.total.${station}` as const)
  return (
    <Link className={`stn ${text.figure === 0 ? 'outline' : ''}`} href={`${base}/${station}`} style={{ gridRow: 1, gridColumn: column_of[station] }}>
      <span className="n">
        <Icon name={icon_of(station)} />
        {t(`nav.${station}`)}
      </span>
      <span className="fig">
        <b>{text.figure ?? '?'}</b>
        {t(word, { n: text.figure ?? 0 })}
      </span>
      <ul>
        {text.lines.map((line, index) => (
          <li key={index}>{line}</li>
        ))}
      </ul>
      <Bars values={beat.length ? beat : new Array<number>(24).fill(0)} />
    </Link>
  )
}

