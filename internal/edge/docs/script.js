// Everything works without this script. It adds instant search, copy buttons, highlighting and a remembered language.
(function () {
  'use strict';
  const all = (query, within) => Array.from((within || document).querySelectorAll(query));
  const byID = (id) => document.getElementById(id);
  document.documentElement.classList.add('js');

  const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);
  all('pre code').forEach((code) => {
    if (/^http/.test(location.protocol)) code.textContent = code.textContent.replaceAll('http://127.0.0.1:8080', location.origin);
    const pre = code.parentNode;
    const json = !pre.classList.contains('sh') && !/language-(?!json)/.test(code.className);
    code.innerHTML = escaped(code.textContent).replace(/("(?:[^"\\\n]|\\.)*")(\s*:)?|\b(?:true|false|null|\d+)\b/g, (m, quoted, colon) => {
      if (!quoted) return json ? '<span class="n">' + m + '</span>' : m;
      return '<span class="' + (colon ? 'k' : 's') + '">' + quoted + '</span>' + (colon || '');
    });
  });

  // The name of a field is a link to the field.
  all('.props li[id] > .what > code').forEach((code) => {
    const a = document.createElement('a');
    a.href = '#' + code.closest('li').id;
    code.replaceWith(a);
    a.append(code);
  });

  if (navigator.clipboard) all('.copy').forEach((button) => {
    button.hidden = false;
    button.onclick = async () => {
      const shown = all('code', button.closest('figure')).find((code) => code.offsetParent);
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    };
  });

  const remembered = (set) => {
    try {
      if (set) localStorage.setItem('language', set);
      return localStorage.getItem('language');
    } catch { return set; }
  };
  const choose = (language) => all('.tabs input').forEach((input) => { input.checked = input.value === language; });
  const language = remembered();
  if (byID('content').querySelector('.tabs input[value="' + (language || '').replace(/\W/g, '') + '"]')) choose(language);
  all('.tabs input').forEach((input) => {
    input.onchange = () => {
      const top = input.closest('figure').getBoundingClientRect().top;
      choose(remembered(input.value) || input.value);
      scrollBy(0, input.closest('figure').getBoundingClientRect().top - top); // what was read stays in view
    };
  });

  const nav = byID('nav'), menu = byID('menu');
  const toggle = (open) => { nav.classList.toggle('open', open); menu.textContent = open ? 'Close' : 'Contents'; };
  menu.onclick = (e) => { e.preventDefault(); toggle(!nav.classList.contains('open')); };
  nav.addEventListener('click', (e) => { if (e.target.closest('a')) toggle(false); });

  const q = byID('q'), instant = byID('instant');
  let asked = 0;
  const show = (results) => {
    instant.replaceChildren(...results.map((r) => {
      const a = document.createElement('a'), title = document.createElement('b'), where = document.createElement('small');
      a.href = r.url;
      title.textContent = r.title;
      where.textContent = r.where + (r.text ? ' · ' + r.text : '');
      a.append(title, where);
      return a;
    }));
    instant.hidden = results.length === 0;
    const box = q.getBoundingClientRect(); // the list is wider than the column, which scrolls
    instant.style.left = box.left + 'px';
    instant.style.top = box.bottom + 4 + 'px';
  };
  q.oninput = () => {
    const turn = ++asked;
    setTimeout(async () => {
      if (turn !== asked) return;
      if (!q.value.trim()) return show([]);
      try {
        const response = await fetch('/docs/search.json?q=' + encodeURIComponent(q.value));
        const { results } = await response.json();
        if (turn === asked) show(results || []);
      } catch { show([]); }
    }, 120);
  };
  document.onkeydown = (e) => {
    const links = all('a', instant), at = links.indexOf(document.activeElement);
    if (e.key === 'Escape') { toggle(false); instant.hidden = true; }
    if (!instant.hidden && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) {
      e.preventDefault();
      (links[e.key === 'ArrowDown' ? at + 1 : at - 1] || q).focus();
    }
    if (e.key !== '/' || /^(INPUT|TEXTAREA)$/.test(e.target.tagName)) return;
    e.preventDefault();
    q.focus();
  };
  document.addEventListener('click', (e) => { if (!e.target.closest('nav form')) instant.hidden = true; });

  // A link to a field inside a closed list opens the list.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let d = target && target.closest('details'); d; d = d.parentNode.closest('details')) d.open = true;
    if (target && target.closest('details')) target.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  reveal();

  const links = {};
  all('.ops a', nav).forEach((a) => { links[a.getAttribute('href').slice(1)] = a; });
  const watch = new IntersectionObserver((seen) => {
    seen.forEach((s) => {
      const link = links[s.target.getAttribute('aria-labelledby')];
      if (!link) return;
      if (!s.isIntersecting) return link.removeAttribute('aria-current');
      link.setAttribute('aria-current', 'location');
      const box = link.getBoundingClientRect();
      if (box.top < 0 || box.bottom > innerHeight) nav.scrollTop += box.top - innerHeight / 2;
    });
  }, { rootMargin: '-12% 0px -87% 0px' });
  all('.op, .group').forEach((s) => watch.observe(s));
  const current = nav.querySelector('[aria-current="page"]');
  if (current && current.getBoundingClientRect().top > innerHeight - 80) nav.scrollTop = current.offsetTop - 120;
})();
