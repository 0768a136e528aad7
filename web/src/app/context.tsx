// SPDX-License-Identifier: Apache-2.0
// What all pages share: the project, the person, the command of the page, dialogs and toasts.
import { createContext, use, useEffect, useMemo, type ReactNode } from 'react'
import type { LiveConnection } from '../api/live'

export interface Session {
  project: string
  user: string
  role: string
  live: LiveConnection | undefined
}

export const SessionContext = createContext<Session>({ project: 'default', user: '', role: '', live: undefined })

export function useSession(): Session {
  return use(SessionContext)
}

export function useProject(): string {
  return use(SessionContext).project
}

/** A path inside the current project. */
export function useBase(): string {
  return `/p/${encodeURIComponent(useProject())}`
}

export interface Command {
  cli: string
  method?: string
  route: string
  body?: unknown
}

export interface PageAction {
  name: string
  command?: string
  run: () => void
}

export interface Page {
  title: string
  command?: Command
  actions?: PageAction[]
  keys?: Record<string, () => void>
}

interface Shell {
  set_page: (page: Page) => void
  toast: (text: ReactNode, undo?: () => void) => void
}

export const ShellContext = createContext<Shell>({ set_page: () => {}, toast: () => {} })

export function useShell(): Shell {
  return use(ShellContext)
}

/** Tells the shell the page's title, its command for the strip at the foot, its palette actions and its keys. */
export function usePage(page: Page): void {
  const { set_page } = useShell()
  const text = JSON.stringify([page.title, page.command, page.actions?.map((action) => action.name), Object.keys(page.keys ?? {})])
  // Actions close over fresh state: the ref-like holder keeps the newest without telling the shell each time.
  const holder = useMemo(() => ({ page }), [])
  holder.page = page
  useEffect(() => {
    const current = holder.page
    set_page({
      title: current.title,
      command: current.command,
      actions: current.actions?.map((action, index) => ({ ...action, run: () => holder.page.actions?.[index]?.run() })),
      keys: Object.fromEntries(Object.keys(current.keys ?? {}).map((key) => [key, () => holder.page.keys?.[key]?.()])),
    })
    document.title = `${current.title} · takt`
  }, [text, holder, set_page])
}
