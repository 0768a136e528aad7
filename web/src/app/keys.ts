// SPDX-License-Identifier: Apache-2.0
// Single keys open, move or focus; nothing is changed without a button. Off while typing.
import { useEffect, useRef } from 'react'
import { get_preferences } from './preferences'

export function typing_in(event: KeyboardEvent): boolean {
  if (get_preferences().keys === 'off') return true
  const target = event.target as HTMLElement | null
  if (document.querySelector('dialog[open]')) return true
  return Boolean(target?.closest?.('input:not([type=checkbox]),textarea,select,[contenteditable=true]'))
}

export const go_keys: Record<string, string> = {
  l: '', d: 'data', j: 'jobs', r: 'runs', m: 'models', s: 'services', p: 'pipelines', e: 'events',
}

export interface ShellKeys {
  palette: () => void
  help: () => void
  go: (station: string) => void
  copy_link: () => void
  copy_command: () => void
  pause: () => void
  close: () => void
  page: Record<string, () => void>
}

export function useKeys(keys: ShellKeys): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    let after_g = 0
    const on_key = (event: KeyboardEvent) => {
      const shell = current.current
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        shell.palette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || typing_in(event)) return
      const act = find_action(event, shell, after_g && Date.now() - after_g < 1500)
      after_g = event.key === 'g' && !after_g ? Date.now() : 0
      if (act) {
        event.preventDefault()
        act()
      }
    }
    window.addEventListener('keydown', on_key)
    return () => window.removeEventListener('keydown', on_key)
  }, [])
}

function find_action(event: KeyboardEvent, shell: ShellKeys, after_g: boolean | 0): (() => void) | undefined {
  const station = go_keys[event.key]
  if (after_g && station !== undefined) return () => shell.go(station)
  const own = shell.page[event.key]
  if (own) return own
  switch (event.key) {
    case '?':
      return shell.help
    case 'y':
      return shell.copy_link
    case '.':
      return shell.copy_command
    case 'Escape':
      return shell.close
    case ' ': {
      const target = event.target as HTMLElement | null
      return target === document.body || target?.id === 'main' ? shell.pause : undefined
    }
    case '/': {
      const filter = document.querySelector<HTMLElement>('[data-filter]')
      return filter ? () => filter.focus() : undefined
    }
    default:
      return undefined
  }
}
