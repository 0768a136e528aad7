// SPDX-License-Identifier: Apache-2.0
// One field for a token and where to find it. Nothing about the server is shown before.
import { useEffect, useState } from 'react'
import { sign_in } from '../../api/spine'
import { ApiError } from '../../api/client'
import { set_preference, usePreferences } from '../../app/preferences'
import { Mark } from '../../app/shell'
import { useText } from '../../i18n'
import { Glyph, Icon } from '../../ui/icon'
import { Copy } from '../../ui/parts'

/** Only paths of this console: an address with a host would lead a person away. */
export function safe_target(to: string | null): string {
  return to && /^\/(?![/\\])/.test(to) ? to : '/'
}

export default function SignIn() {
  const { t, language } = useText()
  const { theme } = usePreferences()
  const [token, set_token] = useState('')
  const [busy, set_busy] = useState(false)
  const [error, set_error] = useState<ApiError>()
  useEffect(() => {
    document.title = `${t('sign_in')} · takt`
  }, [t])
  const submit = async () => {
    set_busy(true)
    set_error(undefined)
    try {
      await sign_in(token.trim())
      location.replace(safe_target(new URLSearchParams(location.search).get('to')))
    } catch (failure) {
      set_error(failure as ApiError)
      set_busy(false)
    }
  }
  return (
    <main className="sign-in">
      <form
        className="panel"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div className="logo">
          <Mark />
          takt
        </div>
        <h1>{t('sign_in')}</h1>
        <label className="fld" htmlFor="token">
          <h3>{t('sign_in.token')}</h3>
        </label>
        <input
          id="token"
          className="inp"
          type="password"
          autoComplete="current-password"
          autoFocus
          value={token}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? 'sign-in-error' : undefined}
          onChange={(event) => set_token(event.target.value)}
        />
        {error && (
          <p className="t-red row" id="sign-in-error" role="alert">
            <Glyph name="bad" /> {error.message}
          </p>
        )}
        <button className="btn p" type="submit" disabled={busy || token.trim() === ''}>
          {t('sign_in')}
        </button>
        <p className="f">{t('sign_in.where')}</p>
        <div className="run1">
          <span className="f">$</span>
          <span className="grow">takt token create</span>
          <Copy text="takt token create" />
        </div>
        <div className="run1">
          <span className="f">$</span>
          <span className="grow">cat DATA/admin-token</span>
          <Copy text="cat DATA/admin-token" />
        </div>
        <div className="row sign-in-foot">
          <button type="button" className="icb" onClick={() => set_preference('language', language === 'zh' ? 'en' : 'zh')} lang={language === 'zh' ? 'en' : 'zh-Hans'}>
            <Icon name="globe" /> {language === 'zh' ? 'English' : '中文'}
          </button>
          <button type="button" className="icb" aria-label={t(`theme.${theme}`)} title={t(`theme.${theme}`)} onClick={() => set_preference('theme', theme === 'dark' ? 'light' : 'dark')}>
            <Icon name={theme === 'dark' ? 'moon' : theme === 'light' ? 'sun' : 'auto'} />
          </button>
        </div>
      </form>
    </main>
  )
}
