// SPDX-License-Identifier: Apache-2.0
// A small translator over two compiled catalogues. A place is {name}; a plural is {name|one form|other form}, # being
// the number; <b>…</b> marks stress in texts given to rich(). Keys and places are checked by the compiler.
import { createContext, Fragment, use, type ReactNode } from 'react'
import { en } from './en'

export type Language = 'en' | 'zh'
export type Key = keyof typeof en
export type Catalogue = Record<Key, string>

type Places<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? (P extends `${infer Name}|${string}` ? Name : P) | Places<Rest>
  : never
type Arguments<K extends Key> = [Places<(typeof en)[K]>] extends [never]
  ? []
  : [values: Record<Places<(typeof en)[K]>, string | number>]

/** Keys whose text has no places: they can be kept in tables and said without values. */
export type PlainKey = { [K in Key]: [Places<(typeof en)[K]>] extends [never] ? K : never }[Key]

export interface Translator {
  language: Language
  locale: string
  /** The text of a key with its places filled. */
  t: <K extends Key>(key: K, ...values: Arguments<K>) => string
  /** The same with <b> turned into stress. */
  rich: <K extends Key>(key: K, ...values: Arguments<K>) => ReactNode
  /** Whether a key made at run time (from a state of the server) has a text. */
  has: (key: string) => key is Key
}

const kept = new Map<string, { numbers: Intl.NumberFormat; plurals: Intl.PluralRules }>()

/** Made once a language: making them costs far more than using them. */
function words_of(locale: string): { numbers: Intl.NumberFormat; plurals: Intl.PluralRules } {
  const found = kept.get(locale) ?? { numbers: new Intl.NumberFormat(locale), plurals: new Intl.PluralRules(locale) }
  kept.set(locale, found)
  return found
}

export function fill(text: string, values: Record<string, string | number> | undefined, locale: string): string {
  return text.replace(/\{(\w+)(?:\|([^}]*))?\}/g, (whole, name: string, forms: string | undefined) => {
    const value = values?.[name]
    if (value === undefined) return whole
    const shown = typeof value === 'number' ? words_of(locale).numbers.format(value) : value
    if (forms === undefined) return shown
    const all = forms.split('|')
    const one = words_of(locale).plurals.select(Number(value)) === 'one'
    return ((one ? all[0] : all[all.length - 1]) ?? '').replaceAll('#', shown)
  })
}

export function translator(language: Language, catalogue: Catalogue): Translator {
  const locale = language === 'zh' ? 'zh-Hans-CN' : 'en-GB'
  const t = (key: Key, values?: Record<string, string | number>) => fill(catalogue[key], values, locale)
  const rich = (key: Key, values?: Record<string, string | number>) =>
    fill(catalogue[key], values, locale)
      .split(/<b>(.*?)<\/b>/)
      .map((part, index) => (index % 2 ? <b key={index}>{part}</b> : <Fragment key={index}>{part}</Fragment>))
  return {
    language,
    locale,
    t: t as Translator['t'],
    rich: rich as Translator['rich'],
    has: (key): key is Key => key in catalogue,
  }
}

export async function load_catalogue(language: Language): Promise<Catalogue> {
  const catalogue: Catalogue = language === 'zh' ? (await import('./zh')).zh : en
  return wants_pseudo() ? pseudo(catalogue) : catalogue
}

function wants_pseudo(): boolean {
  try {
    return localStorage.getItem('takt-pseudo') === 'on'
  } catch {
    return false
  }
}

/** Every text 40 % longer and in brackets, for tests that look for what is cut. Places and tags stay as they are. */
export function pseudo(catalogue: Catalogue): Catalogue {
  const longer = (text: string) => {
    const letters = text.replace(/\{[^}]*\}|<\/?b>/g, '').length
    return `[${text}${'~'.repeat(Math.ceil(letters * 0.4))}]`
  }
  return Object.fromEntries(Object.entries(catalogue).map(([key, text]) => [key, longer(text)])) as Catalogue
}

export const TranslatorContext = createContext<Translator>(translator('en', en))

export function useText(): Translator {
  return use(TranslatorContext)
}
