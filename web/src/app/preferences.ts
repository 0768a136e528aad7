// SPDX-License-Identifier: Apache-2.0
// What a person chose for this browser: kept in local storage, shared by all parts through a tiny store.
import { useSyncExternalStore } from 'react'
import type { Language } from '../i18n'

export interface Preferences {
  theme: 'light' | 'dark' | 'auto'
  language: Language
  density: 'normal' | 'compact'
  zone: 'browser' | 'utc'
  keys: 'on' | 'off'
  form: 'cli' | 'curl' | 'python'
}

function stored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

function pick<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
  const value = stored(name) as T | null
  return value !== null && allowed.includes(value) ? value : fallback
}

let current: Preferences = {
  theme: pick('takt-theme', ['light', 'dark', 'auto'], 'auto'),
  language: pick('takt-language', ['en', 'zh'], /^zh/i.test(globalThis.navigator?.language ?? '') ? 'zh' : 'en'),
  density: pick('takt-density', ['normal', 'compact'], 'normal'),
  zone: pick('takt-zone', ['browser', 'utc'], 'browser'),
  keys: pick('takt-keys', ['on', 'off'], 'on'),
  form: pick('takt-form', ['cli', 'curl', 'python'], 'cli'),
}
const listeners = new Set<() => void>()

export function get_preferences(): Preferences {
  return current
}

export function set_preference<K extends keyof Preferences>(name: K, value: Preferences[K]): void {
  current = { ...current, [name]: value }
  try {
    localStorage.setItem(`takt-${name}`, value)
  } catch {
    // Storage may be forbidden: the choice then lasts for this visit.
  }
  const root = document.documentElement
  if (name === 'theme') {
    if (value === 'auto') delete root.dataset.theme
    else root.dataset.theme = value
  }
  if (name === 'density') root.dataset.density = value
  for (const listener of listeners) listener()
}

export function subscribe_preferences(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe_preferences, get_preferences)
}
