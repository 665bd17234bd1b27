// Makes the flame graph interactive: fits it to the window, zooms, searches, shows facts, follows the keyboard.
// Names come from attributes and go into text nodes only. Without this script the graph is a static picture.
(function () {
  'use strict';
  const script = document.currentScript;
  const svg = (script && script.closest('svg')) || document.documentElement;
  const margin = 12;
  const body = svg.querySelector('.body');
  const head = svg.querySelector('.head');
  const foot = svg.querySelector('.foot');
  const infoName = foot.querySelector('.info-name');
  const infoFacts = foot.querySelector('.info-facts');
  const headHeight = Number(svg.dataset.head);
  const footHeight = Number(svg.dataset.foot);
  const controlsTop = Number(svg.dataset.controls);
  const hint = 'Click a frame to zoom; click the base or press Esc to go back · / or Ctrl-F to search · arrow keys and Enter work too';

  const frames = Array.from(svg.querySelectorAll('.frames > g'), (g) => ({
    g: g,
    rect: g.querySelector('rect'),
    text: g.querySelector('text'),
    facts: g.querySelector('title').textContent,
    label: g.dataset.n,
    shorter: [g.dataset.m, g.dataset.s, g.dataset.t].filter((label) => label !== undefined),
    start: Number(g.dataset.a),
    width: Number(g.dataset.w),
    level: Number(g.dataset.l),
    parent: null,
    children: [],
    visible: true,
    hit: false
  }));
  if (frames.length === 0) return;
  for (const frame of frames) {
    frame.g.tabIndex = -1;
    if (frame.g.dataset.p === undefined) continue;
    frame.parent = frames[Number(frame.g.dataset.p)];
    frame.parent.children.push(frame);
  }
  const root = frames[0];
  root.g.setAttribute('tabindex', '0');
  const byElement = new Map(frames.map((frame) => [frame.g, frame]));
  let zoomed = root;
  const levels = 1 + frames.reduce((most, frame) => Math.max(most, frame.level), 0);
  let width = 1200;
  let height = Number(svg.getAttribute('height'));
  let row = 20;
  let columnWidth = 7.25;

  // The longest label that fits; if none does, the beginning of the shortest.
  function fitted(frame, room) {
    const most = Math.floor((room - 8) / columnWidth);
    const share = (100 * frame.width / root.width).toFixed(1) + ' %';
    const labels = [frame.label + '  ' + share, frame.label].concat(frame.shorter);
    const found = labels.find((label) => Array.from(label).length <= most);
    if (found !== undefined) return found;
    return most < 3 ? '' : Array.from(labels[labels.length - 1]).slice(0, most - 1).join('') + '…';
  }

  function draw() {
    const inner = width - 2 * margin;
    const above = new Set();
    for (let frame = zoomed.parent; frame; frame = frame.parent) above.add(frame);
    const end = zoomed.start + zoomed.width;
    for (const frame of frames) {
      const isAbove = above.has(frame);
      const inside = frame.level >= zoomed.level && frame.start >= zoomed.start && frame.start + frame.width <= end;
      const x = isAbove ? 0 : (frame.start - zoomed.start) / zoomed.width * inner;
      const w = isAbove ? inner : frame.width / zoomed.width * inner;
      frame.visible = isAbove || (inside && w >= 0.1);
      frame.g.style.display = frame.visible ? '' : 'none';
      if (!frame.visible) continue;
      frame.g.classList.toggle('above', isAbove);
      const y = headHeight + row * (levels - 1 - frame.level);
      frame.rect.setAttribute('x', (margin + x).toFixed(2));
      frame.rect.setAttribute('y', y);
      frame.rect.setAttribute('height', row - 1);
      frame.rect.setAttribute('width', Math.max(w - 1, w / 2).toFixed(2));
      frame.text.setAttribute('x', (margin + Math.max(x, 0) + 4).toFixed(2));
      frame.text.setAttribute('y', y + row / 2 + 4);
      frame.text.textContent = fitted(frame, w);
    }
    resetButton.hidden = zoomed === root;
  }

  function zoom(frame) {
    zoomed = frame;
    draw();
    show(frame);
  }

  // ---- facts ----

  function put(text, content) {
    const room = width - 2 * margin;
    text.textContent = content;
    const length = text.getComputedTextLength();
    if (length <= room) return;
    const characters = Array.from(content);
    text.textContent = characters.slice(0, Math.floor(characters.length * room / length) - 2).join('') + '…';
  }

  function show(frame) {
    if (!frame) {
      put(infoName, hint);
      put(infoFacts, '');
      return;
    }
    const lines = frame.facts.split('\n');
    const ofZoomed = zoomed !== root && frame.level > zoomed.level
      ? ' · ' + (100 * frame.width / zoomed.width).toFixed(1) + ' % of what is zoomed' : '';
    put(infoName, lines.slice(0, 2).join(' · ') + ofZoomed);
    put(infoFacts, lines.slice(2).join(' · '));
  }

  // ---- search ----

  const xhtml = 'http://www.w3.org/1999/xhtml';
  const holder = document.createElementNS('http://www.w3.org/2000/svg', 'foreignObject');
  const controls = document.createElementNS(xhtml, 'div');
  const found = document.createElementNS(xhtml, 'span');
  const input = document.createElementNS(xhtml, 'input');
  const resetButton = document.createElementNS(xhtml, 'button');
  controls.setAttribute('class', 'loopfold-controls');
  found.setAttribute('role', 'status');
  input.setAttribute('type', 'text');
  input.setAttribute('placeholder', 'Search (regular expression)');
  input.setAttribute('aria-label', 'Search frames');
  input.setAttribute('spellcheck', 'false');
  resetButton.textContent = 'Reset zoom';
  controls.append(found, resetButton, input);
  holder.append(controls);
  head.append(holder);

  function matcher(term) {
    try {
      const expression = new RegExp(term, 'i');
      return { test: (label) => expression.test(label), note: '' };
    } catch (error) {
      return { test: (label) => label.includes(term), note: ' (as plain text)' };
    }
  }

  function search() {
    const term = input.value;
    const match = matcher(term);
    let count = 0;
    let sum = 0;
    for (const frame of frames) {
      frame.hit = term !== '' && match.test(frame.label);
      frame.covered = Boolean(frame.parent) && (frame.parent.hit || frame.parent.covered);
      frame.g.classList.toggle('hit', frame.hit);
      if (frame.hit) count++;
      if (frame.hit && !frame.covered) sum += frame.width;
    }
    body.classList.toggle('searching', term !== '');
    const share = root.width > 0 ? (100 * sum / root.width).toFixed(1) : '0.0';
    found.textContent = term === '' ? ''
      : count + (count === 1 ? ' frame matches: ' : ' frames match: ') + share + ' % of instructions' + match.note;
  }

  // ---- window ----

  function place() {
    const view = svg === document.documentElement ? window.innerHeight : height;
    const top = svg === document.documentElement ? window.scrollY : 0;
    head.setAttribute('transform', 'translate(0,' + Math.min(top, Math.max(0, height - headHeight - footHeight)) + ')');
    foot.setAttribute('transform', 'translate(0,' + Math.max(headHeight, Math.min(height, top + view) - footHeight) + ')');
  }

  function resize() {
    svg.setAttribute('width', '100%');
    width = Math.max(320, svg.getBoundingClientRect().width || 1200);
    const room = svg === document.documentElement ? window.innerHeight - headHeight - footHeight - 4 : 0;
    row = Math.max(20, Math.min(28, Math.floor(room / levels)));
    height = headHeight + row * levels + 4 + footHeight;
    svg.setAttribute('height', height);
    svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
    for (const rect of svg.querySelectorAll('.wide')) rect.setAttribute('width', width);
    const left = Math.max(margin, Math.min(Number(svg.dataset.legend), width - 440));
    holder.setAttribute('x', left);
    holder.setAttribute('y', controlsTop);
    holder.setAttribute('width', Math.max(0, width - margin - left));
    holder.setAttribute('height', 26);
    draw();
    place();
    show(null);
  }

  function measure() {
    const sample = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    sample.textContent = 'mmmmmmmmmmmmmmmmmmmm';
    svg.querySelector('.frames').append(sample);
    columnWidth = sample.getComputedTextLength() / 20 || columnWidth;
    sample.remove();
  }

  // ---- mouse and keyboard ----

  function frameOf(event) {
    const g = event.target.closest && event.target.closest('.frames > g');
    return g ? byElement.get(g) : null;
  }

  function focus(frame) {
    if (!frame) return;
    for (const other of svg.querySelectorAll('.frames > g[tabindex="0"]')) other.setAttribute('tabindex', '-1');
    frame.g.setAttribute('tabindex', '0');
    frame.g.focus();
  }

  function neighbour(frame, direction) {
    const same = frames.filter((other) => other.visible && other.level === frame.level);
    same.sort((a, b) => a.start - b.start);
    return same[same.indexOf(frame) + direction];
  }

  function widest(list) {
    return list.filter((frame) => frame.visible).reduce((best, frame) => (!best || frame.width > best.width ? frame : best), null);
  }

  function goBack() {
    if (zoomed !== root) {
      zoom(root);
    } else {
      input.value = '';
      search();
    }
  }

  svg.addEventListener('click', (event) => {
    const frame = frameOf(event);
    if (!frame) return;
    zoom(frame);
    focus(frame);
  });
  svg.addEventListener('mouseover', (event) => {
    const frame = frameOf(event);
    if (frame) show(frame);
  });
  svg.addEventListener('mouseout', (event) => {
    if (frameOf(event)) show(byElement.get(document.activeElement) || null);
  });
  svg.addEventListener('focusin', (event) => show(frameOf(event)));
  resetButton.addEventListener('click', () => zoom(root));
  input.addEventListener('input', search);
  window.addEventListener('keydown', (event) => {
    const typing = event.target === input;
    if (event.key === 'Escape') {
      if (typing) {
        input.value = '';
        search();
        focus(zoomed);
      } else {
        goBack();
      }
      return;
    }
    if ((event.key === 'f' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !typing)) {
      event.preventDefault();
      input.focus();
      input.select();
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const current = byElement.get(document.activeElement);
    const from = current || zoomed;
    const moves = {
      ArrowUp: () => focus(current ? widest(from.children) : from),
      ArrowDown: () => focus(from.parent || from),
      ArrowLeft: () => focus(neighbour(from, -1)),
      ArrowRight: () => focus(neighbour(from, 1)),
      Enter: () => zoom(from),
      ' ': () => zoom(from)
    };
    if (!moves[event.key] || event.target === resetButton) return;
    event.preventDefault();
    moves[event.key]();
  });
  window.addEventListener('scroll', place);
  window.addEventListener('resize', resize);

  measure();
  resize();
  if (svg === document.documentElement && height > window.innerHeight) window.scrollTo(0, height);
})();
