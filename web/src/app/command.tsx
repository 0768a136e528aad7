// SPDX-License-Identifier: Apache-2.0
// The strip at the foot: the view, or the change about to be made, as CLI, curl and Python. No token is ever printed.
import { useText } from '../i18n'
import { Copy } from '../ui/parts'
import type { Command } from './context'
import { set_preference, usePreferences } from './preferences'

export function quote_shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

export function as_curl(command: Command, origin: string): string {
  const parts = ['curl', '-H', '"Authorization: Bearer $TAKT_TOKEN"']
  if (command.method && command.method !== 'GET') parts.push('-X', command.method)
  if (command.body !== undefined) parts.push('-H', `'Content-Type: application/json'`, '-d', quote_shell(JSON.stringify(command.body)))
  parts.push(quote_shell(origin + command.route))
  return parts.join(' ')
}

export function as_python(command: Command, origin: string): string {
  const method = (command.method ?? 'GET').toLowerCase()
  const body = command.body === undefined ? '' : `, json=${to_python(command.body)}`
  return `requests.${method}(${JSON.stringify(origin + command.route)}${body}, headers={"Authorization": "Bearer " + os.environ["TAKT_TOKEN"]})`
}

function to_python(value: unknown): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) return `[${value.map(to_python).join(', ')}]`
  if (typeof value === 'object') return `{${Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${to_python(item)}`).join(', ')}}`
  return JSON.stringify(value)
}

export function text_of_command(command: Command, form: 'cli' | 'curl' | 'python', origin = location.origin): string {
  return form === 'cli' ? command.cli : form === 'curl' ? as_curl(command, origin) : as_python(command, origin)
}

export function CommandStrip({ command }: { command: Command | undefined }) {
  const { t } = useText()
  const { form } = usePreferences()
  const text = command ? text_of_command(command, form) : ''
  return (
    <footer className="cmd" aria-label={t('command.label')}>
      <span className="p0">{form === 'python' ? '>>>' : '$'}</span>
      <span className="c" title={text} lang="en">
        {text}
      </span>
      {text && <Copy text={text} label={t('command.copy')} />}
      <span className="grow" />
      <span className="seg" role="group" aria-label={t('command.form')}>
        {(['cli', 'curl', 'python'] as const).map((name) => (
          <button key={name} type="button" aria-pressed={form === name} onClick={() => set_preference('form', name)}>
            {name === 'cli' ? 'CLI' : name === 'curl' ? 'curl' : 'Python'}
          </button>
        ))}
      </span>
    </footer>
  )
}
