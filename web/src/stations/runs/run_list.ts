// SPDX-License-Identifier: Apache-2.0
// The runs that match a search, page after page as the table is scrolled. What was loaded never moves: rows in sight
// are asked again when they log or when something happened, and new runs wait until they are asked for.
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { load_runs, load_runs_by_id, type Run, type RunSearch } from '../../api/runs'

const first_page = 200
const next_page = 1000
const head_rows = 50
/** Columns that come with every row; further ones are asked for the rows in sight only. */
export const columns_with_rows = 40
const still_ms = 150

export interface Sight {
  ids: string[]
  names: string[]
}

export interface RunList {
  rows: Run[]
  /** Runs that match; undefined until the first page is there. */
  total: number | undefined
  is_more: boolean
  is_loaded: boolean
  error: unknown
  /** Runs at the head of the list that are not in it yet. */
  waiting: number
  load_more: () => void
  show_waiting: () => void
  see: (sight: Sight) => void
  /** False while a cell of a far column has not been asked for. */
  knows: (id: string, name: string) => boolean
  retry: () => void
}

/** Newer values of rows, and which columns those values are known for. */
export class RunPatches {
  private readonly runs = new Map<string, Run>()
  private readonly known = new Map<string, Set<string>>()

  put(run: Run, names: string[], base: Run | undefined): void {
    const before = this.runs.get(run.id) ?? base
    const known = this.known.get(run.id) ?? new Set<string>()
    for (const name of names) known.add(name)
    this.known.set(run.id, known)
    if (!before) return
    this.runs.set(run.id, { ...run, params: { ...before.params, ...run.params }, metrics: { ...before.metrics, ...run.metrics }, tags: { ...without(before.tags, names), ...run.tags } })
  }

  newest(run: Run): Run {
    return this.runs.get(run.id) ?? run
  }

  knows(id: string, name: string): boolean {
    return this.known.get(id)?.has(name) ?? false
  }

  clear(): void {
    this.runs.clear()
    this.known.clear()
  }
}

/** A tag that was asked for and did not come is gone. */
function without(tags: Record<string, string>, names: string[]): Record<string, string> {
  const asked = new Set(names)
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !asked.has(`tags.${key}`)))
}

export function useRunList(project: string, search: RunSearch, names: string[], enabled: boolean): RunList {
  const queries = useQueryClient()
  const key = ['run-pages', project, search.experiment, search.filter, search.order]
  const key_text = key.join('\n')
  // Columns chosen later come for the rows in sight: the list is not loaded anew for them.
  const base = useRef({ key_text: '', names: [] as string[] })
  if (enabled && base.current.key_text !== key_text) base.current = { key_text, names: names.slice(0, columns_with_rows) }
  const columns = base.current.names
  const patches = useRef(new RunPatches()).current
  const [stamp, set_stamp] = useState(0)

  const pages = useInfiniteQuery({
    queryKey: key,
    enabled,
    queryFn: ({ pageParam, signal }) => load_runs(project, search, { columns, page_size: pageParam ? next_page : first_page, page_token: pageParam, count: pageParam ? undefined : true }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_page_token || undefined,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: Infinity,
    gcTime: 30_000,
    refetchOnWindowFocus: false,
  })
  const loaded = useMemo(() => pages.data?.pages.flatMap((page) => page.items) ?? [], [pages.data])
  const index_of = useMemo(() => new Map(loaded.map((run, index) => [run.id, index])), [loaded])
  const rows = useMemo(() => (stamp ? loaded.map((run) => patches.newest(run)) : loaded), [loaded, stamp])

  const head = useQuery({
    queryKey: ['runs', project, 'head', search.experiment, search.filter, search.order],
    enabled: enabled && pages.isSuccess,
    queryFn: async ({ signal }) => (await load_runs(project, search, { columns: [], page_size: head_rows }, signal)).items.map((run) => run.id),
    retry: false,
  })
  const waiting = pages.isPlaceholderData ? 0 : (head.data ?? []).filter((id) => !index_of.has(id)).length

  const [sight, set_sight] = useState<Sight>({ ids: [], names: [] })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const see = useCallback((next: Sight) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => set_sight((old) => (old.ids.join() === next.ids.join() && old.names.join() === next.names.join() ? old : next)), still_ms)
  }, [])
  useEffect(() => () => clearTimeout(timer.current), [])
  const is_logging = sight.ids.some((id) => rows[index_of.get(id) ?? -1]?.status === 'running')
  // Asked again while something in sight logs, when far columns come into sight, and once something has happened.
  const is_unknown = sight.ids.some((id) => sight.names.some((name) => !columns.includes(name) && !patches.knows(id, name)))
  const first_head = useRef({ key_text: '', at: 0 })
  if (first_head.current.key_text !== key_text && head.isSuccess) first_head.current = { key_text, at: head.dataUpdatedAt }
  const has_happened = head.dataUpdatedAt > first_head.current.at
  const seen = useQuery({
    queryKey: ['runs', project, 'seen', sight.ids.join(), sight.names.join()],
    enabled: sight.ids.length > 0 && (is_logging || is_unknown || has_happened),
    queryFn: async ({ signal }) => ({ names: sight.names, runs: (await load_runs_by_id(project, sight.ids, sight.names, signal)).items }),
    refetchInterval: is_logging ? 3000 : false,
    gcTime: 0,
    retry: false,
  })
  useEffect(() => {
    if (!seen.data) return
    for (const run of seen.data.runs) patches.put(run, seen.data.names, loaded[index_of.get(run.id) ?? -1])
    set_stamp((value) => value + 1)
  }, [seen.data])

  const { hasNextPage, isFetching, fetchNextPage } = pages
  return {
    rows,
    total: pages.data?.pages[0]?.total ?? (pages.data && !hasNextPage ? loaded.length : undefined),
    is_more: hasNextPage,
    is_loaded: pages.data !== undefined,
    error: pages.error,
    waiting,
    load_more: useCallback(() => {
      if (hasNextPage && !isFetching) void fetchNextPage()
    }, [hasNextPage, isFetching, fetchNextPage]),
    show_waiting: () => {
      patches.clear()
      base.current = { key_text, names: names.slice(0, columns_with_rows) }
      void queries.resetQueries({ queryKey: key })
    },
    see,
    knows: (id, name) => columns.includes(name) || patches.knows(id, name),
    retry: () => void pages.refetch(),
  }
}
