// SPDX-License-Identifier: Apache-2.0
// Numbers, sizes, durations and times in the words of the console's language.
import { useText, type Translator } from '../i18n'
import { usePreferences } from '../app/preferences'

export type Zone = 'browser' | 'utc'

export interface Format {
  /** A number with at most `digits` after the point. */
  number: (value: number | null | undefined, digits?: number) => string
  /** A number with exactly `digits` after the point. */
  fixed: (value: number, digits: number) => string
  /** A metric: four significant digits, small ones in powers of ten. */
  metric: (value: number | null | undefined) => string
  /** A share of one as percent, without a space. */
  percent: (share: number | null | undefined, digits?: number) => string
  /** File sizes in kB, MB, GB. */
  bytes: (bytes: number | null | undefined) => string
  /** Memory in MiB, GiB. */
  memory: (bytes: number | null | undefined) => string
  cpu: (millicores: number | null | undefined) => string
  duration: (ms: number | null | undefined) => string
  /** Short: exact under a minute, then the largest unit only. */
  span_or_duration: (ms: number | null | undefined) => string
  /** The largest unit only: 3 min, 2 h, 5 d. */
  span: (ms: number | null | undefined) => string
  /** Relative under a day, then the date. */
  ago: (time: string | number | null | undefined, now?: number) => string
  clock: (time: string | number | null | undefined) => string
  hour: (time: string | number | null | undefined) => string
  /** Date, time and zone, for hovers. */
  absolute: (time: string | number | null | undefined) => string
  list: (items: string[]) => string
}

export const none = '–'

export function to_ms(time: string | number | null | undefined): number | undefined {
  if (time === null || time === undefined || time === '') return undefined
  const ms = typeof time === 'number' ? time : Date.parse(time)
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

/** Making a formatter costs far more than using it: one is kept for each form. */
function kept<Options, Made>(make: (options: Options) => Made): (options: Options) => Made {
  const made = new Map<string, Made>()
  return (options) => {
    const key = JSON.stringify(options)
    const found = made.get(key) ?? make(options)
    made.set(key, found)
    return found
  }
}

export function make_format({ t, locale, language }: Translator, zone: Zone): Format {
  const timeZone = zone === 'utc' ? 'UTC' : undefined
  const numbers = kept((options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options))
  const dates = kept((options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, { timeZone, ...options }))
  const number = (value: number | null | undefined, digits = 3) =>
    value === null || value === undefined ? none : numbers({ maximumFractionDigits: digits }).format(value)
  const fixed = (value: number, digits: number) => numbers({ minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value)
  const scaled = (value: number, base: number, units: string[]) => {
    let power = 0
    let rest = value
    while (rest >= base && power < units.length - 1) {
      rest /= base
      power++
    }
    const digits = power === 0 || rest >= 100 ? 0 : rest >= 10 ? 1 : rest === Math.round(rest) ? 0 : 2
    return `${number(rest, digits)} ${units[power]}`
  }
  const span = (ms: number | null | undefined) => {
    if (ms === null || ms === undefined) return none
    const s = Math.max(0, ms) / 1000
    if (s < 60) return t('unit.s', { n: Math.round(s) })
    if (s < 3600) return t('unit.min', { n: Math.round(s / 60) })
    if (s < 172800) return t('unit.h', { n: Math.round(s / 3600) })
    return t('unit.d', { n: Math.round(s / 86400) })
  }
  const duration = (ms: number | null | undefined) => {
    if (ms === null || ms === undefined) return none
    if (ms < 100) return t('unit.ms', { n: number(Math.max(0, ms), ms < 10 ? 1 : 0) })
    if (ms < 10_000) return t('unit.s', { n: fixed(ms / 1000, 1) })
    const s = Math.round(ms / 1000)
    if (s < 60) return t('unit.s', { n: s })
    if (s < 3600) return s % 60 ? t('unit.min_s', { m: Math.floor(s / 60), s: s % 60 }) : t('unit.min', { n: s / 60 })
    const m = Math.round(s / 60)
    if (m < 1440) return m % 60 ? t('unit.h_min', { h: Math.floor(m / 60), m: m % 60 }) : t('unit.h', { n: m / 60 })
    const h = Math.round(m / 60)
    return h % 24 ? t('unit.d_h', { d: Math.floor(h / 24), h: h % 24 }) : t('unit.d', { n: h / 24 })
  }
  const date_of = (time: string | number | null | undefined, options: Intl.DateTimeFormatOptions) => {
    const ms = to_ms(time)
    return ms === undefined ? none : dates(options).format(ms)
  }
  const clock_parts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  return {
    number,
    fixed,
    metric: (value) => {
      if (value === null || value === undefined || Number.isNaN(value)) return none
      const size = Math.abs(value)
      if (size !== 0 && (size < 0.0001 || size >= 1e9)) return value.toExponential(1).replace('e+', 'e')
      if (Number.isInteger(value)) return number(value)
      return size >= 100 ? fixed(value, 1) : size >= 10 ? fixed(value, 2) : fixed(value, 4)
    },
    percent: (share, digits = 1) => (share === null || share === undefined ? none : `${number(share * 100, digits)}%`),
    bytes: (bytes) => (bytes === null || bytes === undefined ? none : scaled(bytes, 1000, ['B', 'KB', 'MB', 'GB', 'TB'])),
    memory: (bytes) =>
      bytes === null || bytes === undefined ? none : scaled(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']),
    cpu: (millicores) => (millicores === null || millicores === undefined ? none : number(millicores / 1000, 2)),
    duration,
    span,
    span_or_duration: (ms) => (ms !== null && ms !== undefined && ms >= 60_000 ? span(ms) : duration(ms)),
    ago: (time, now = Date.now()) => {
      const ms = to_ms(time)
      if (ms === undefined) return none
      const age = now - ms
      if (age < 5000) return t('time.now')
      if (age < 86_400_000) return t('time.ago', { span: span(age) })
      const same_year = new Date(ms).getFullYear() === new Date(now).getFullYear()
      return date_of(ms, { month: 'short', day: 'numeric', ...(same_year ? {} : { year: 'numeric' }) })
    },
    clock: (time) => date_of(time, { ...clock_parts, second: '2-digit' }),
    hour: (time) => date_of(time, clock_parts),
    absolute: (time) => {
      const ms = to_ms(time)
      if (ms === undefined) return none
      const day = date_of(ms, { year: 'numeric', month: language === 'zh' ? 'long' : 'short', day: 'numeric' })
      return `${day} ${date_of(ms, { ...clock_parts, second: '2-digit', timeZoneName: 'short' })}`
    },
    list: (items) => new Intl.ListFormat(locale, { type: 'conjunction' }).format(items),
  }
}

const formats = new WeakMap<Translator, Map<Zone, Format>>()

/** One for all components of a language and zone. */
export function useFormat(): Format {
  const text = useText()
  const { zone } = usePreferences()
  const of_text = formats.get(text) ?? new Map<Zone, Format>()
  formats.set(text, of_text)
  const format = of_text.get(zone) ?? make_format(text, zone)
  of_text.set(zone, format)
  return format
}
