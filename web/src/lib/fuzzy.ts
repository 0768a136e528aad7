// SPDX-License-Identifier: Apache-2.0
// Finding for the palette: the letters in order, words begun and runs of letters weigh more. Chinese by substring.

export interface Match {
  score: number
  marks: number[]
}

export function find_in(name: string, query: string): Match | undefined {
  const letters = query.toLowerCase().replace(/\s+/g, '')
  if (!letters) return { score: 0, marks: [] }
  const text = name.toLowerCase()
  const whole = text.indexOf(letters)
  if (whole >= 0) {
    const begins = whole === 0 || /[\s@/#._-]/.test(text[whole - 1] ?? '')
    return { score: 100 + (begins ? 50 : 0) - whole - text.length / 100, marks: [...letters].map((_, index) => whole + index) }
  }
  // Scattered letters are found in any sentence: only names are worth it.
  if (/[^\x00-\x7f]/.test(letters) || text.length > 48) return undefined
  const marks: number[] = []
  let score = 0
  let at = -1
  for (const letter of letters) {
    const next = text.indexOf(letter, at + 1)
    if (next < 0) return undefined
    if (next === at + 1) score += 5
    if (next === 0 || /[\s@/#._-]/.test(text[next - 1] ?? '')) score += 8
    score -= (next - at - 1) * 0.2
    marks.push(next)
    at = next
  }
  return { score, marks }
}

/** Cuts a name into runs of marked and unmarked letters. */
export function mark_parts(name: string, marks: number[]): [string, boolean][] {
  const marked = new Set(marks)
  const parts: [string, boolean][] = []
  for (let index = 0; index < name.length; index++) {
    const is_marked = marked.has(index)
    const last = parts[parts.length - 1]
    if (last && last[1] === is_marked) last[0] += name[index]
    else parts.push([name[index] ?? '', is_marked])
  }
  return parts
}
