// SPDX-License-Identifier: Apache-2.0
// Objects that live as long as the tab: the query cache, the catalogue, and the addresses.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError, set_unauthenticated_handler } from '../api/client'
import { load_catalogue, translator, TranslatorContext, type Translator } from '../i18n'
import { set_ref_words } from '../lib/url'
import { Sprite } from '../ui/sprite'
import { usePreferences } from './preferences'
import { Addresses } from './addresses'
import { PageBoundary } from './boundary'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => !(error instanceof ApiError && error.status >= 400 && error.status < 500) && count < 2,
    },
  },
})

set_unauthenticated_handler(() => {
  if (location.pathname === '/sign-in') return
  location.replace(`/sign-in?to=${encodeURIComponent(location.pathname + location.search + location.hash)}`)
})

export function App() {
  const { language } = usePreferences()
  const [text, set_text] = useState<Translator>()
  useEffect(() => {
    let current = true
    void load_catalogue(language).then((catalogue) => {
      if (!current) return
      document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en'
      const next = translator(language, catalogue)
      set_ref_words({ job: (n) => next.t('job.n', { n }), run: (id) => next.t('run.n', { id }) })
      set_text(next)
    })
    return () => {
      current = false
    }
  }, [language])
  if (!text) return null
  return (
    <QueryClientProvider client={queries}>
      <TranslatorContext value={text}>
        <Sprite />
        <PageBoundary>
          <Addresses />
        </PageBoundary>
      </TranslatorContext>
    </QueryClientProvider>
  )
}
