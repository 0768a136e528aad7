// SPDX-License-Identifier: Apache-2.0
// The frame of all pages: top bar, rail, banner of a lost connection, main, command strip.
import { useCallback, useMemo, useState, useSyncExternalStore, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { LiveConnection, LiveState } from '../api/live'
import { useBadges, useProjects, useVersion } from '../api/spine'
import { useText, type PlainKey } from '../i18n'
import { useFormat } from '../lib/format'
import { Glyph, Icon, type IconName } from '../ui/icon'
import { Button, copy_text } from '../ui/parts'
import { Menu } from '../ui/menu'
import { CommandStrip, text_of_command } from './command'
import { ShellContext, useSession, type Page } from './context'
import { Help } from './help'
import { useKeys } from './keys'
import { Palette } from './palette'
import { get_preferences, set_preference, usePreferences } from './preferences'
import { sign_out } from '../api/spine'

const stations: [string, PlainKey, IconName][] = [
  ['data', 'nav.data', 'data'],
  ['jobs', 'nav.jobs', 'jobs'],
  ['runs', 'nav.runs', 'runs'],
  ['models', 'nav.models', 'models'],
  ['services', 'nav.services', 'services'],
]

export function Shell({ children }: { children: ReactNode }) {
  const { t } = useText()
  const { project, live } = useSession()
  const [, navigate] = useLocation()
  const [page, set_page] = useState<Page>({ title: 'takt' })
  const [open, set_open] = useState<'palette' | 'help' | undefined>()
  const [toasts, set_toasts] = useState<{ id: number; text: ReactNode; undo?: () => void }[]>([])
  const toast = useCallback((text: ReactNode, undo?: () => void) => {
    const id = Date.now() + Math.random()
    set_toasts((all) => [...all.slice(-2), { id, text, undo }])
    setTimeout(() => set_toasts((all) => all.filter((item) => item.id !== id)), 8000)
  }, [])
  const shell = useMemo(() => ({ set_page, toast }), [toast])
  const base = `/p/${encodeURIComponent(project)}`

  useKeys({
    palette: () => set_open('palette'),
    help: () => set_open('help'),
    go: (station) => navigate(`${base}/${station}`),
    copy_link: () => void copy_text(location.href).then(() => toast(t('toast.link'))),
    copy_command: () => {
      if (page.command) void copy_text(text_of_command(page.command, get_preferences().form)).then(() => toast(t('toast.command')))
    },
    pause: () => live?.toggle_pause(),
    close: () => set_open(undefined),
    page: page.keys ?? {},
  })

  return (
    <ShellContext value={shell}>
      <div className="app">
        <a className="skip" href="#main">
          {t('skip')}
        </a>
        <TopBar onFind={() => set_open('palette')} onHelp={() => set_open('help')} />
        <Rail base={base} />
        <main id="main" tabIndex={-1}>
          {live && <LostBanner live={live} />}
          {children}
        </main>
        <CommandStrip command={page.command} />
        {open === 'palette' && <Palette page={page} onClose={() => set_open(undefined)} />}
        {open === 'help' && <Help onClose={() => set_open(undefined)} />}
        <div className="toasts" role="status" aria-live="polite">
          {toasts.map((item) => (
            <div className="toast" key={item.id}>
              <Glyph name="ok" size={16} />
              <span>{item.text}</span>
              {item.undo && (
                <button type="button" onClick={item.undo}>
                  {t('undo')}
                </button>
              )}
            </div>
          ))}
        </div>
      </div>
    </ShellContext>
  )
}

function TopBar({ onFind, onHelp }: { onFind: () => void; onHelp: () => void }) {
  const { t, language } = useText()
  const { theme } = usePreferences()
  const { project, user, role, live } = useSession()
  const [, navigate] = useLocation()
  const projects = useProjects()
  const names = projects.data?.map((item) => item.name) ?? [project]
  const next_theme = { auto: 'light', light: 'dark', dark: 'auto' } as const
  const theme_icon = { auto: 'auto', light: 'sun', dark: 'moon' } as const
  return (
    <header className="top">
      <Link className="logo" href={`/p/${encodeURIComponent(project)}/`} aria-label={t('home')}>
        <Mark />
        takt
      </Link>
      <span className="sep" />
      <Menu
        worded
        className="proj"
        label={t('project.switch')}
        button={
          <>
            {project} <Icon name="down" size={14} />
          </>
        }
        items={names.map((name) => ({ word: name, current: name === project, act: () => navigate(`/p/${encodeURIComponent(name)}/`) }))}
      />
      <button type="button" className="find" onClick={onFind} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span className="grow">{t('find')}</span>
        <kbd>Ctrl K</kbd>
      </button>
      {live && <LiveMark live={live} />}
      <button
        type="button"
        className="icb"
        lang={language === 'zh' ? 'en' : 'zh-Hans'}
        title={language === 'zh' ? 'English' : '中文'}
        aria-label={language === 'zh' ? 'English' : '中文'}
        onClick={() => set_preference('language', language === 'zh' ? 'en' : 'zh')}
      >
        <Icon name="globe" />
      </button>
      <button type="button" className="icb" title={t(`theme.${theme}`)} aria-label={t(`theme.${theme}`)} onClick={() => set_preference('theme', next_theme[theme])}>
        <Icon name={theme_icon[theme]} />
      </button>
      <button type="button" className="icb hm" title={t('keys.title')} aria-label={t('keys.title')} onClick={onHelp}>
        <kbd>?</kbd>
      </button>
      <Menu
        className="who"
        label={`${initials(user)}, ${t('person', { user: user || '–', role: role || '–' })}`}
        button={initials(user)}
        align="end"
        items={[
          { word: role ? t('person', { user, role }) : user, act: undefined },
          { word: t('nav.settings'), act: () => navigate('/settings') },
          { word: t('sign_out'), act: () => void sign_out().then(() => location.assign('/sign-in')) },
        ]}
      />
    </header>
  )
}

function initials(user: string): string {
  const letters = user.split(/[\s._-]+/).map((word) => word[0] ?? '').join('')
  return (letters.length > 1 ? letters.slice(0, 2) : user.slice(0, 2) || '–').toUpperCase()
}

export function Mark() {
  return (
    <svg width="20" height="18" viewBox="0 0 20 18" aria-hidden="true">
      <rect x="0" y="0" width="3.5" height="18" rx="1.2" fill="var(--blue)" />
      <rect x="5.5" y="7" width="3.5" height="11" rx="1.2" fill="currentColor" />
      <rect x="11" y="4" width="3.5" height="14" rx="1.2" fill="currentColor" />
      <rect x="16.5" y="7" width="3.5" height="11" rx="1.2" fill="currentColor" />
    </svg>
  )
}

export function useLive(live: LiveConnection): LiveState {
  return useSyncExternalStore(live.subscribe, live.get_state)
}

function LiveMark({ live }: { live: LiveConnection }) {
  const { t } = useText()
  const state = useLive(live)
  const word =
    state.kind === 'behind' ? t('live.behind', { n: state.count })
    : state.kind === 'lost' ? t('live.lost', { n: Math.max(1, Math.round((state.next_at - Date.now()) / 1000)) })
    : t(`live.${state.kind}`)
  return (
    <button type="button" className={`live ${state.kind}`} title={t('live.hint')} onClick={live.toggle_pause} aria-pressed={state.kind === 'paused'}>
      <i />
      {word}
    </button>
  )
}

function LostBanner({ live }: { live: LiveConnection }) {
  const { rich, t } = useText()
  const format = useFormat()
  const state = useLive(live)
  if (state.kind !== 'lost') return null
  return (
    <div className="ban amber lost" role="status">
      <Glyph name="lost" size={18} />
      <span className="grow">{rich('live.banner', { time: format.clock(state.since), next: Math.max(1, Math.round((state.next_at - Date.now()) / 1000)) })}</span>
      <Button small onClick={live.try_now}>
        {t('try_now')}
      </Button>
    </div>
  )
}

function Rail({ base }: { base: string }) {
  const { t } = useText()
  const [location] = useLocation()
  const badges = useBadges()
  const item = (path: string, word: PlainKey, icon: IconName, optional = false) => {
    const to = path === 'settings' ? '/settings' : `${base}/${path}`
    const here = path === '' ? location === `${base}/` || location === base : location === to || location.startsWith(`${to}/`)
    const badge = badges[path]
    return (
      <Link key={path} href={to} aria-current={here ? 'page' : undefined} className={optional ? 'opt' : ''} title={t(word)}>
        <Icon name={icon} />
        <span>{t(word)}</span>
        {badge && (
          <span className={`cnt t-${badge.kind === 'broken' ? 'red' : 'violet'}`}>
            <Glyph name={badge.kind === 'broken' ? 'bad' : 'person'} size={14} label={t(`badge.${badge.kind}`)} />
            <b>{badge.count}</b>
          </span>
        )}
      </Link>
    )
  }
  return (
    <nav className="nav" aria-label={t('nav.main')}>
      {item('', 'nav.line', 'line')}
      <hr />
      <div className="track">{stations.map(([path, word, icon]) => item(path, word, icon))}</div>
      <hr />
      {item('pipelines', 'nav.pipelines', 'pipelines')}
      {item('events', 'nav.events', 'events', true)}
      {item('settings', 'nav.settings', 'settings', true)}
      <ServerFacts />
    </nav>
  )
}

function ServerFacts() {
  const { t } = useText()
  const format = useFormat()
  const version = useVersion()
  const server = version.data
  if (!server) return <div className="srv" />
  const second = [
    server.uptime_ms !== undefined && t('server.up', { span: format.span(server.uptime_ms) }),
    server.disk_used_share !== undefined && t('server.disk', { share: format.percent(server.disk_used_share, 0) }),
  ].filter(Boolean)
  return (
    <div className="srv">
      takt {server.version}
      {server.store ? ` · ${server.store}` : ''}
      <br />
      {second.join(' · ')}
    </div>
  )
}
