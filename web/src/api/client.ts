// SPDX-License-Identifier: Apache-2.0
// The one way to the server: same origin, JSON, the session cookie, and errors in the server's own words.

export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly hint: string | undefined
  readonly field: string | undefined
  readonly request_id: string | undefined
  constructor(status: number, body: { code?: string; message?: string; hint?: string; field?: string; request_id?: string }) {
    super(body.message ?? `HTTP ${status}`)
    this.status = status
    this.code = body.code ?? `http_${status}`
    this.hint = body.hint || undefined
    this.field = body.field || undefined
    this.request_id = body.request_id || undefined
  }
}

export type Query = Record<string, string | number | boolean | undefined | null>

/** Percent-encodes the parts that stand in ${} of an API or console path. */
export function path(strings: TemplateStringsArray, ...parts: (string | number)[]): string {
  return strings.reduce((all, text, index) => all + text + (index < parts.length ? encodeURIComponent(parts[index]!) : ''), '')
}

export function url_of(route: string, query?: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text ? `${route}?${text}` : route
}

let on_unauthenticated: () => void = () => {}
export function set_unauthenticated_handler(handler: () => void): void {
  on_unauthenticated = handler
}

export async function failure_of(response: Response): Promise<ApiError> {
  let body: { error?: Record<string, string> } = {}
  try {
    body = (await response.json()) as typeof body
  } catch {
    // Not JSON: the status alone must do.
  }
  return new ApiError(response.status, body.error ?? { message: response.statusText || undefined })
}

export async function request<T>(method: string, route: string, query?: Query, body?: unknown, signal?: AbortSignal): Promise<T> {
  let response: Response
  try {
    response = await fetch(url_of(route, query), {
      method,
      credentials: 'same-origin',
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, { code: 'unavailable', message: error instanceof Error ? error.message : String(error) })
  }
  if (!response.ok) {
    const failure = await failure_of(response)
    if (response.status === 401) on_unauthenticated()
    throw failure
  }
  if (response.status === 204) return undefined as T
  const text = await response.text()
  return (text ? JSON.parse(text) : undefined) as T
}

export const get = <T>(route: string, query?: Query, signal?: AbortSignal) => request<T>('GET', route, query, undefined, signal)
export const post = <T>(route: string, query?: Query, body: unknown = {}) => request<T>('POST', route, query, body)

export interface Page<T> {
  items: T[]
  next_page_token?: string
}

/** All pages of a list, up to a bound that the console can hold. */
export async function get_all<T>(route: string, query: Query = {}, most = 2000, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = []
  let page_token: string | undefined
  do {
    const page = await get<Page<T>>(route, { ...query, page_token }, signal)
    items.push(...page.items)
    page_token = page.next_page_token || undefined
  } while (page_token && items.length < most)
  return items
}
