// SPDX-License-Identifier: Apache-2.0
// The log as lines: fed with bytes by offset, keeps the last 5,000 lines, splits ANSI colours, and shows how a
// carriage return ends (a progress bar's last state).

export const lines_kept = 5000

export interface LogLine {
  number: number
  offset: number
  text: string
}

export interface Span {
  text: string
  color?: string
  bold?: boolean
}

export class LogModel {
  lines: LogLine[] = []
  /** The offset after the last byte taken. */
  next_offset: number
  /** Lines that stood before the first kept one. */
  private count: number
  private pending = new Uint8Array(0)
  private pending_offset: number
  private readonly decoder = new TextDecoder()

  /** `first_number` is unknown (0-based count) when reading starts in the middle of a log. */
  constructor(offset = 0, lines_before = 0) {
    this.next_offset = offset
    this.pending_offset = offset
    this.count = lines_before
  }

  feed(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    const all = new Uint8Array(this.pending.length + bytes.length)
    all.set(this.pending)
    all.set(bytes, this.pending.length)
    let begin = 0
    const added: LogLine[] = []
    for (let at = this.pending.length; at < all.length; at++) {
      if (all[at] !== 10) continue
      added.push({ number: ++this.count, offset: this.pending_offset + begin, text: this.decoder.decode(all.subarray(begin, at)) })
      begin = at + 1
    }
    this.pending = all.slice(begin)
    this.pending_offset += begin
    this.next_offset += bytes.length
    if (added.length) this.lines = [...this.lines, ...added].slice(-lines_kept)
  }

  /** All kept lines and, if there is one, the last that has no line end yet. */
  all(): LogLine[] {
    if (this.pending.length === 0) return this.lines
    return [...this.lines, { number: this.count + 1, offset: this.pending_offset, text: this.decoder.decode(this.pending) }]
  }

  get total(): number {
    return this.count + (this.pending.length ? 1 : 0)
  }
}

const ansi_colors: Record<number, string> = { 1: '--red', 2: '--green', 3: '--amber', 4: '--blue', 5: '--violet', 6: '--c3', 0: '--text-3', 7: '--text' }

/** Text after the last carriage return, cut where colours change; other escapes are dropped. */
export function spans_of(raw: string): Span[] {
  const last = raw.replace(/\r+$/, '')
  const text = last.slice(last.lastIndexOf('\r') + 1)
  if (!text.includes('\x1b')) return [{ text: visible(text) }]
  const spans: Span[] = []
  let color: string | undefined
  let bold = false
  for (const part of text.split(/(\x1b\[[0-9;?]*[A-Za-z])/)) {
    const code = /^\x1b\[([0-9;?]*)([A-Za-z])$/.exec(part)
    if (!code) {
      const clean = visible(part)
      if (clean) spans.push({ text: clean, color, bold })
      continue
    }
    if (code[2] !== 'm') continue
    for (const number of (code[1] || '0').split(';').map(Number)) {
      if (number === 0) {
        color = undefined
        bold = false
      } else if (number === 1) bold = true
      else if (number === 22) bold = false
      else if (number === 39) color = undefined
      else if (number >= 30 && number <= 37) color = ansi_colors[number - 30]
      else if (number >= 90 && number <= 97) color = ansi_colors[number - 90]
    }
  }
  return spans.length ? spans : [{ text: '' }]
}

function visible(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, (letter) => String.fromCharCode(0x2400 + (letter.charCodeAt(0) & 0x3f)))
}

/** Lines that look like trouble, for the margin map and the e key. */
export function is_error_line(text: string): boolean {
  return /\b(error|exception|traceback|fatal|killed|out of memory|panic)\b/i.test(text)
}
