// SPDX-License-Identifier: Apache-2.0
// The event log: time, who, verb, thing, before and after. Filter by subject; export as JSON Lines.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { load_events, type TaktEvent } from '../../api/spine'
import { usePage, useProject } from '../../app/context'
import { download } from '../../lib/download'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { details_line, is_failure, useVerbWord } from '../../lib/events'
import { parse_ref, path_of_ref, short_ref, useParams_of_url } from '../../lib/url'
import { Glyph, Icon, icon_of } from '../../ui/icon'
import { Button, Digest, Head, Time } from '../../ui/parts'
import { Empty, Failure, Skeleton } from '../../ui/states'
import { DataTable, type Column } from '../../ui/table'

const page_size = 200

export default function EventsPage() {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const say = useVerbWord()
  const [params, set_params] = useParams_of_url()
  const subject = params.get('subject') ?? ''
  const [typed, set_typed] = useState(subject)
  useEffect(() => {
    const timer = setTimeout(() => set_params({ subject: typed }), 250)
    return () => clearTimeout(timer)
  }, [typed, set_params])
  const events = useInfiniteQuery({
    queryKey: ['events', project, 'pages', subject],
    queryFn: ({ pageParam, signal }) => load_events(project, { subject, limit: page_size, before: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.items.length === page_size ? last.next_page_token || undefined : undefined),
    placeholderData: (before) => before,
  })
  const rows = useMemo(() => events.data?.pages.flatMap((page) => page.items) ?? [], [events.data])
  const last = events.data?.pages[0]?.last_sequence
  usePage({
    title: t('nav.events'),
    command: { cli: `takt events${subject ? ` --subject ${subject}` : ''}`, route: `/api/v1/events${subject ? `?subject=${encodeURIComponent(subject)}` : ''}` },
    actions: [{ name: t('events.export'), run: () => export_lines(rows) }],
  })
  const columns = useMemo((): Column<TaktEvent>[] => [
    { id: 'sequence', head: '#', right: true, className: 'f', cell: (event) => event.sequence },
    { id: 'time', head: t('time'), className: 'mono', cell: (event) => <><Time at={event.time_at} form="clock" /> <span className="f">{format.ago(event.time_at)}</span></> },
    { id: 'who', head: t('events.who'), cell: (event) => event.actor },
    { id: 'verb', head: t('events.verb'), cell: (event) => <span className="st">{is_failure(event) && <Glyph name="bad" size={14} />}<b title={event.verb}>{say(event.verb)}</b></span> },
    {
      id: 'thing', head: t('events.thing'),
      cell: (event) => {
        const to = path_of_ref(project, event.subject)
        return <span className="row"><Icon name={icon_of(parse_ref(event.subject).kind)} size={14} />{to ? <Link href={to}>{short_ref(event.subject)}</Link> : short_ref(event.subject)}</span>
      },
    },
    { id: 'change', head: t('events.change'), cell: (event) => (event.before_digest || event.after_digest ? <span className="m"><Digest value={event.before_digest} /> → <Digest value={event.after_digest} /></span> : <span className="f">–</span>) },
    { id: 'details', head: t('events.details'), grow: true, className: 'm', cell: (event) => <span title={JSON.stringify(event.details)}>{details_line(event, format)}</span> },
  ], [t, format, project, say])
  return (
    <div className="page page-events">
      <Head title={t('nav.events')} sub={last !== undefined && t('events.sub', { n: last })}>
        <label className="search">
          <Icon name="search" size={14} />
          <input data-filter value={typed} placeholder={t('events.filter')} aria-label={t('events.filter')} onChange={(event) => set_typed(event.target.value)} />
        </label>
        <Button onClick={() => export_lines(rows)} disabled={!rows.length}>{t('events.export')}</Button>
      </Head>
      <section className="panel">
        {events.isError && !rows.length ? (
          <Failure what={t('events.error')} error={events.error} retry={() => void events.refetch()} />
        ) : !events.data ? (
          <Skeleton rows={8} />
        ) : rows.length === 0 ? (
          <Empty title={subject ? t('events.no_match', { subject }) : t('events.none')} />
        ) : (
          <DataTable label={t('nav.events')} columns={columns} rows={rows} row_key={(event) => String(event.sequence)} />
        )}
      </section>
      {events.hasNextPage && (
        <p>
          <Button busy={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>{t('events.older')}</Button>
        </p>
      )}
    </div>
  )
}

function export_lines(rows: TaktEvent[]): void {
  download('events.jsonl', `data:application/x-ndjson;charset=utf-8,${encodeURIComponent(rows.map((event) => JSON.stringify(event)).join('\n'))}`)
}
