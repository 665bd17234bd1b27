! A procedure of a module: its debug information is inside of the module's.
module work
  implicit none
  integer, parameter :: n = 60
  real(8) :: f(n, n), g(n)
contains
  subroutine squares()
    integer :: i, j
    real(8) :: s, t
    do j = 1, n  ! loop: verdict yes; at -O0 needs private\(s\); at -O0 needs private\(t\); at -O0 needs private\(i\)
      s = 0
      do i = 1, n
        t = f(i, j) * 2
        s = s + t * t
      end do
      g(j) = s
    end do
  end subroutine
end module

program main
  use work
  integer :: i, j
  do j = 1, n
    do i = 1, n
      f(i, j) = i + j
    end do
  end do
  call squares()
  print *, g(5)
end program
