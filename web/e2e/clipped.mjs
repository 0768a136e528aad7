// SPDX-License-Identifier: Apache-2.0
// Finds words that are cut: in buttons, heads, pills and labels nothing may be hidden, also in longer languages.
export function clipped_texts() {
  const found = []
  const selectors = 'main .btn, main h1, main h2, main th, main .pill, main .seg > *, main .tabs button, main dt, .nav a > span, .top .find > span'
  for (const element of document.querySelectorAll(selectors)) {
    const style = getComputedStyle(element)
    if (style.overflow === 'visible' && style.textOverflow !== 'ellipsis') {
      const box = element.getBoundingClientRect()
      const parent = element.closest('.panel, .top, .nav, main')?.getBoundingClientRect()
      const scrolls = element.closest('.scroll, .lin-scroll, .dag, .vers, .strip')
      if (box.width > 0 && parent && !scrolls && box.right > parent.right + 1) found.push(`beyond its panel: ${element.textContent?.slice(0, 50)}`)
      continue
    }
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 2) found.push(`cut: ${element.textContent?.slice(0, 50)}`)
  }
  return [...new Set(found)]
}
