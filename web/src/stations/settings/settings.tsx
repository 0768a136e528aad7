// SPDX-License-Identifier: Apache-2.0
// Settings: how the console looks to this person, tokens, people.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ApiError } from '../../api/client'
import { create_token, revoke_token, tokens_query, users_query, type Token, type User } from '../../api/spine'
import { useProject, usePage, useSession } from '../../app/context'
import { set_preference, usePreferences } from '../../app/preferences'
import { useText } from '../../i18n'
import { Button, Copy, Facts, Head, Panel, Segments, Time } from '../../ui/parts'
import { Confirm } from '../../ui/dialog'
import { Loaded } from '../../ui/states'
import { DataTable } from '../../ui/table'
import './settings.css'

export default function SettingsPage() {
  const { t } = useText()
  usePage({ title: t('nav.settings'), command: { cli: 'takt token ls', route: '/api/v1/tokens' } })
  return (
    <div className="page page-settings">
      <Head title={t('nav.settings')} />
      <div className="cols-2">
        <Profile />
        <Person />
      </div>
      <Tokens />
      <People />
    </div>
  )
}

function Profile() {
  const { t } = useText()
  const preferences = usePreferences()
  const rows: [string, ReactNode][] = [
    [t('settings.language'), <Segments key="l" label={t('settings.language')} value={preferences.language} onChange={(value) => set_preference('language', value)} options={[['en', <span key="e" lang="en">English</span>], ['zh', <span key="z" lang="zh-Hans">简体中文</span>]]} />],
    [t('settings.theme'), <Segments key="t" label={t('settings.theme')} value={preferences.theme} onChange={(value) => set_preference('theme', value)} options={[['light', t('settings.theme.light')], ['dark', t('settings.theme.dark')], ['auto', t('settings.theme.auto')]]} />],
    [t('settings.density'), <Segments key="d" label={t('settings.density')} value={preferences.density} onChange={(value) => set_preference('density', value)} options={[['normal', t('settings.density.normal')], ['compact', t('settings.density.compact')]]} />],
    [t('settings.zone'), <Segments key="z" label={t('settings.zone')} value={preferences.zone} onChange={(value) => set_preference('zone', value)} options={[['browser', t('settings.zone.browser', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })], ['utc', 'UTC']]} />],
    [t('settings.keys'), <Segments key="k" label={t('settings.keys')} value={preferences.keys} onChange={(value) => set_preference('keys', value)} options={[['on', t('on')], ['off', t('off')]]} />],
  ]
  return (
    <Panel title={t('settings.profile')} sub={t('settings.profile.sub')}>
      <div className="prefs">
        {rows.map(([word, control]) => (
          <div key={word} className="row"><span className="m grow">{word}</span>{control}</div>
        ))}
      </div>
    </Panel>
  )
}

function Person() {
  const { t } = useText()
  const { user, role, project } = useSession()
  return (
    <Panel title={t('settings.person')}>
      <Facts items={[[t('settings.user'), user || '–'], [t('settings.role'), role || '–'], [t('settings.project'), project]]} />
    </Panel>
  )
}

function Tokens() {
  const { t } = useText()
  const project = useProject()
  const queries = useQueryClient()
  const tokens = useQuery(tokens_query)
  const [note, set_note] = useState('')
  const [expires_in, set_expires_in] = useState<'720h' | '24h' | 'never'>('720h')
  const [made, set_made] = useState<string>()
  const [error, set_error] = useState<string>()
  const [revoking, set_revoking] = useState<Token>()
  const create = async () => {
    set_error(undefined)
    try {
      const token = await create_token(project, { note: note || undefined, expires_in: expires_in === 'never' ? undefined : expires_in })
      set_made(token.token)
      set_note('')
      await queries.invalidateQueries({ queryKey: ['settings', 'tokens'] })
    } catch (failure) {
      set_error(failure instanceof ApiError ? [failure.message, failure.hint].filter(Boolean).join(' ') : String(failure))
    }
  }
  return (
    <Panel title={t('tokens')} sub={t('tokens.sub')} flush>
      <form
        className="token-new row wrap"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <input className="inp" value={note} placeholder={t('tokens.note')} aria-label={t('tokens.note')} onChange={(event) => set_note(event.target.value)} />
        <Segments label={t('tokens.expiry')} value={expires_in} onChange={set_expires_in} options={[['24h', t('tokens.day')], ['720h', t('tokens.month')], ['never', t('tokens.never')]]} />
        <Button type="submit" kind="primary">{t('tokens.create')}</Button>
      </form>
      {error && <p className="t-red blk" role="alert">{error}</p>}
      {made && (
        <div className="blk" role="status">
          <p>{t('tokens.once')}</p>
          <div className="run1"><span className="grow">{made}</span><Copy text={made} /></div>
        </div>
      )}
      <Loaded query={tokens} what={t('tokens.error')}>
        {(items) => (
          <DataTable<Token>
            label={t('tokens')}
            rows={items}
            row_key={(token) => token.id}
            columns={[
              { id: 'note', head: t('tokens.note'), grow: true, cell: (token) => token.note || <span className="f">{t('tokens.unnamed')}</span> },
              { id: 'id', head: t('tokens.id'), className: 'mono', cell: (token) => token.id.slice(0, 10) },
              { id: 'user', head: t('settings.user'), cell: (token) => token.user },
              { id: 'project', head: t('settings.project'), cell: (token) => token.project || <span className="f">{t('all')}</span> },
              { id: 'created', head: t('tokens.created'), className: 'm', cell: (token) => <Time at={token.created_at} /> },
              { id: 'expires', head: t('tokens.expires'), className: 'm', cell: (token) => (token.expires_at ? <Until at={token.expires_at} /> : t('tokens.never')) },
              { id: 'act', head: <span className="sr">{t('actions')}</span>, right: true, cell: (token) => <Button small kind="danger" onClick={() => set_revoking(token)}>{t('tokens.revoke')}</Button> },
            ]}
          />
        )}
      </Loaded>
      {revoking && (
        <Confirm
          title={t('tokens.revoke.title', { name: revoking.note || revoking.id.slice(0, 10) })}
          consequences={[{ safe: false, text: t('tokens.revoke.text') }]}
          action={t('tokens.revoke')}
          keep={t('keep')}
          kind="danger"
          act={async () => {
            await revoke_token(revoking.id)
            await queries.invalidateQueries({ queryKey: ['settings', 'tokens'] })
          }}
          onClose={() => set_revoking(undefined)}
        />
      )}
    </Panel>
  )
}

function Until({ at }: { at: string }) {
  const { locale } = useText()
  return <time dateTime={at} title={at}>{new Date(at).toLocaleDateString(locale, { year: 'numeric', month: 'short', day: 'numeric' })}</time>
}

function People() {
  const { t } = useText()
  const users = useQuery(users_query)
  return (
    <Panel title={t('people')} flush>
      <Loaded query={users} what={t('people.error')}>
        {(items) => (
          <DataTable<User>
            label={t('people')}
            rows={items}
            row_key={(user) => user.name}
            columns={[
              { id: 'name', head: t('name'), cell: (user) => <b className="b">{user.name}</b> },
              { id: 'role', head: t('settings.role'), cell: (user) => t(`role.${user.role}`) },
              { id: 'since', head: t('tokens.created'), className: 'm', grow: true, cell: (user) => <Time at={user.created_at} /> },
              { id: 'state', head: t('state'), cell: (user) => (user.disabled ? t('people.disabled') : t('people.active')) },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  )
}
